#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Another order: of everything where elements can be named, else by drawing
// from a buffer as tf.data does.
struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kDoc = "Another order, by a buffer or, without one, of everything.";

  std::optional<int64_t> buffer_size;
  std::optional<int64_t> seed;
  bool reshuffle_each_iteration = true;

  void describe(Fields& f) {
    f("buffer_size", buffer_size, "elements to draw from; null or -2: all of them");
    f("seed", seed, "null: drawn once, when the data set is made");
    f("reshuffle_each_iteration", reshuffle_each_iteration, "another order in each pass");
  }

  Result<void> check() const {
    if (buffer_size && *buffer_size <= 0 && *buffer_size != kUnknown)
      return Error::invalid("buffer_size must be at least 1, found ", *buffer_size);
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  PassUse pass_use() const { return PassUse::kOrders; }
  EngineParams engine() const {
    EngineParams params{.kind = EngineKind::kShuffle};
    if (buffer_size && *buffer_size != kUnknown) params.buffer = buffer_size;
    params.seed = seed;
    params.each_pass = reshuffle_each_iteration;
    return params;
  }
};

}  // namespace stoker
