#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Stacks consecutive elements along a new first axis.
struct Batch {
  static constexpr std::string_view kName = "batch";
  static constexpr std::string_view kDoc = "Stack consecutive elements along a new first axis.";

  int64_t batch_size = 0;
  bool drop_remainder = false;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  // Rows of the incomplete batch. The state is saved only between two batches, when there are none.
  struct State {
    Run open;
  };

  void describe(Fields& f) {
    f.required("batch_size", batch_size, "number of elements in a batch, at least 1");
    f("drop_remainder", drop_remainder, "drop the last batch if it has fewer elements");
    f("num_parallel_calls", num_parallel_calls,
      "accepted for compatibility with tf.data and ignored; batches are always filled in parallel");
    f("deterministic", deterministic, "accepted for compatibility with tf.data and ignored");
  }

  Result<void> check() const {
    if (batch_size <= 0) return Error::invalid("batch_size must be at least 1, got ", batch_size);
    return {};
  }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  int64_t cardinality(std::span<const int64_t> inputs) const;
  int64_t batch_rows() const { return batch_size; }
  int64_t max_rows(const State& state) const { return batch_size - state.open.size; }
  bool at_rest(const State& state) const { return state.open.size == 0; }
  Result<Flow> step(State& state, Run run, Emit& out, Context&) const;
  Result<Flow> finish(State& state, Emit& out, Context&) const;

 private:
  Run stacked(const Run& run, int32_t first, int64_t batches) const;
};

}  // namespace stoker
