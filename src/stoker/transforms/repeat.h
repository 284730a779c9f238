#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// The whole input again and again.
struct Repeat {
  static constexpr std::string_view kName = "repeat";
  static constexpr std::string_view kDoc = "The input again and again.";

  std::optional<int64_t> count;

  void describe(Fields& f) { f("count", count, "how often; null or negative: for ever"); }

  int64_t cardinality(std::span<const int64_t> inputs) const {
    const int64_t n = inputs[0];
    const int64_t times = count.value_or(-1);
    if (times == 0 || n == 0) return 0;
    if (times < 0) return n == kUnknown ? kInfinite : kInfinite;
    int64_t product = 0;
    return n < 0 ? n : __builtin_mul_overflow(n, times, &product) ? kInfinite : product;
  }
  EngineParams engine() const { return {.kind = EngineKind::kRepeat, .count = count.value_or(-1)}; }
};

}  // namespace stoker
