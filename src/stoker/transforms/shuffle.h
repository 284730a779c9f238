#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Shuffles elements. Over a list, it shuffles positions, before any element is loaded. Otherwise, it draws from a
// buffer, as tf.data does.
struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kDoc = "Shuffle the elements with a buffer or, without a buffer size, all of them.";

  std::optional<int64_t> buffer_size;
  std::optional<int64_t> seed;
  bool reshuffle_each_iteration = true;

  void describe(Fields& f) {
    f("buffer_size", buffer_size, "number of elements in the buffer to draw from; null or -2: all elements");
    f("seed", seed, "seed of the order; null: drawn once, when the dataset is built");
    f("reshuffle_each_iteration", reshuffle_each_iteration, "use a different order in each pass");
  }

  Result<void> check() const {
    if (buffer_size && *buffer_size <= 0 && *buffer_size != kUnknown)
      return Error::invalid("buffer_size must be at least 1, got ", *buffer_size);
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  PassUse pass_use() const { return PassUse::kOrders; }
  ShuffleParams engine() const {
    const bool is_bounded = buffer_size && *buffer_size != kUnknown;
    return {.buffer = is_bounded ? buffer_size : std::nullopt, .seed = seed, .each_pass = reshuffle_each_iteration};
  }
};

}  // namespace stoker
