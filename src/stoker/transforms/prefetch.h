#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Elements ready ahead of the consumer: at least so many. The engine runs
// ahead without it, too.
struct Prefetch {
  static constexpr std::string_view kName = "prefetch";
  static constexpr std::string_view kDoc = "Have at least so many elements ready ahead.";

  std::optional<int64_t> buffer_size;

  void describe(Fields& f) { f("buffer_size", buffer_size, "at least so many; null or -1: as many as help"); }

  Result<void> check() const {
    if (buffer_size && *buffer_size < kAutotune)
      return Error::invalid("buffer_size must be -1 or more, found ", *buffer_size);
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  EngineParams engine() const {
    return {.kind = EngineKind::kPrefetch, .count = std::max<int64_t>(0, buffer_size.value_or(0))};
  }
};

}  // namespace stoker
