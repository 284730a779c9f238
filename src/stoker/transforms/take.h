#pragma once

#include <algorithm>

#include "stoker/graph/stage.h"

namespace stoker {

// Passes on the first `count` elements and then ends the stream.
struct Take {
  static constexpr std::string_view kName = "take";
  static constexpr std::string_view kDoc = "Keep the first elements, then end the stream.";

  int64_t count = 0;

  void describe(Fields& f) { f.required("count", count, "number of elements to keep; negative: all"); }

  int64_t length(int64_t n) const { return count < 0 ? n : std::min(n, count); }
  int64_t at(int64_t i) const { return i; }
};

}  // namespace stoker
