#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Keeps at least buffer_size elements ready for the consumer. The engine also prefetches without this stage.
struct Prefetch {
  static constexpr std::string_view kName = "prefetch";
  static constexpr std::string_view kDoc = "Keep at least buffer_size elements ready for the consumer.";

  std::optional<int64_t> buffer_size;

  void describe(Fields& f) {
    f("buffer_size", buffer_size, "minimum number of prefetched elements; null or -1: chosen automatically");
  }

  Result<void> check() const {
    if (buffer_size && *buffer_size < kAutotune)
      return Error::invalid("buffer_size must be -1 or more, got ", *buffer_size);
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  PrefetchParams engine() const { return {.at_least = std::max<int64_t>(0, buffer_size.value_or(0))}; }
};

}  // namespace stoker
