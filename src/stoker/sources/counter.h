#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Yields start, start + step, start + 2 * step, … without an end.
struct Counter {
  static constexpr std::string_view kName = "counter";
  static constexpr std::string_view kDoc = "Yield the numbers start, start + step, … without an end.";

  int64_t start = 0;
  int64_t step = 1;
  DType dtype = DType::kInt64;

  void describe(Fields& f) {
    f("start", start, "first number");
    f("step", step, "difference between two consecutive numbers");
    f("dtype", dtype, "type to which the numbers are cast");
  }

  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(dtype); }
  Result<int64_t> length(Context&) const { return kEndless; }
  Result<Element> at(int64_t i, Context&) const;
  Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
};

}  // namespace stoker
