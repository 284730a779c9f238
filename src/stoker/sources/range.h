#pragma once

#include <algorithm>

#include "stoker/graph/stage.h"

namespace stoker {

// The numbers from start to stop, by Python's rules.
struct Range {
  static constexpr std::string_view kName = "range";
  static constexpr std::string_view kDoc = "Numbers from start up to stop, step by step.";

  int64_t start = 0;
  int64_t stop = 0;
  int64_t step = 1;
  DType output_type = DType::kInt64;

  void describe(Fields& f) {
    f("start", start, "the first number");
    f.required("stop", stop, "the numbers end before this one");
    f("step", step, "from one number to the next; not 0");
    f("output_type", output_type, "what the numbers are cast to");
  }

  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(output_type); }
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
};

}  // namespace stoker
