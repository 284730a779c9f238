#pragma once

#include <algorithm>

#include "stoker/graph/stage.h"

namespace stoker {

// Yields the numbers from start to stop, by the rules of Python's range: a list.
struct Range {
  static constexpr std::string_view kName = "range";
  static constexpr std::string_view kDoc =
      "Yield the numbers start, start + step, … before stop, as Python's range does.";

  int64_t start = 0;
  int64_t stop = 0;
  int64_t step = 1;
  DType output_type = DType::kInt64;

  void describe(Fields& f) {
    f("start", start, "first number");
    f.required("stop", stop, "end of the range, which is not included");
    f("step", step, "difference between two consecutive numbers, not 0");
    f("output_type", output_type, "type to which the numbers are cast");
  }

  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(output_type); }
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
};

}  // namespace stoker
