#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Passes on every `step`-th element, beginning with the first.
struct Stride {
  static constexpr std::string_view kName = "stride";
  static constexpr std::string_view kDoc = "Keep every n-th element, beginning with the first.";

  int64_t step = 1;

  void describe(Fields& f) { f.required("step", step, "distance between two kept elements, at least 1"); }

  Result<void> check() const {
    if (step < 1) return Error::invalid("step is ", step, ", expected at least 1");
    return {};
  }

  int64_t length(int64_t n) const { return n / step + (n % step != 0); }
  int64_t at(int64_t i) const { return i * step; }
};

}  // namespace stoker
