#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// start, start + step, … for ever.
struct Counter {
  static constexpr std::string_view kName = "counter";
  static constexpr std::string_view kDoc = "Numbers without end.";

  int64_t start = 0;
  int64_t step = 1;
  DType dtype = DType::kInt64;

  void describe(Fields& f) {
    f("start", start, "the first number");
    f("step", step, "from one number to the next");
    f("dtype", dtype, "what the numbers are cast to");
  }

  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(dtype); }
  Result<int64_t> length(Context&) const { return kEndless; }
  Result<Element> at(int64_t i, Context&) const;
  Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
};

}  // namespace stoker
