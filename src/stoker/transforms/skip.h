#pragma once

#include <algorithm>

#include "stoker/graph/stage.h"

namespace stoker {

// Skips the first `count` elements.
struct Skip {
  static constexpr std::string_view kName = "skip";
  static constexpr std::string_view kDoc = "Skip the first elements.";

  int64_t count = 0;

  void describe(Fields& f) { f.required("count", count, "number of elements to skip; negative: all"); }

  int64_t length(int64_t n) const { return count < 0 ? 0 : std::max<int64_t>(0, n - count); }
  int64_t at(int64_t i) const { return i + count; }
};

}  // namespace stoker
