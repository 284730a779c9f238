#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Yields the whole input several times. Each repetition is a new pass.
struct Repeat {
  static constexpr std::string_view kName = "repeat";
  static constexpr std::string_view kDoc = "Repeat the input.";

  std::optional<int64_t> count;

  void describe(Fields& f) { f("count", count, "number of passes over the input; null or negative: infinite"); }

  int64_t cardinality(std::span<const int64_t> inputs) const {
    const int64_t n = inputs[0];
    const int64_t times = count.value_or(-1);
    if (times == 0 || n == 0) return 0;
    if (times < 0) return kInfinite;
    int64_t product = 0;
    return n < 0 ? n : __builtin_mul_overflow(n, times, &product) ? kInfinite : product;
  }
  RepeatParams engine() const { return {.passes = count.value_or(-1)}; }
};

}  // namespace stoker
