#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Stacks consecutive elements along a new first axis.
struct Batch {
  static constexpr std::string_view kName = "batch";
  static constexpr std::string_view kDoc = "Stack consecutive elements into batches.";

  int64_t batch_size = 0;
  bool drop_remainder = false;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  // Rows of the batch that is begun. Between two batches it is empty, and only
  // there is it saved.
  struct State {
    Run open;
  };

  void describe(Fields& f) {
    f.required("batch_size", batch_size, "elements in a batch");
    f("drop_remainder", drop_remainder, "leave out a last batch that is short");
    f("num_parallel_calls", num_parallel_calls, "taken for tf.data's sake; batches are filled in parallel anyway");
    f("deterministic", deterministic, "taken for tf.data's sake");
  }

  Result<void> check() const {
    if (batch_size <= 0) return Error::invalid("batch_size must be at least 1, found ", batch_size);
    return {};
  }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  int64_t cardinality(std::span<const int64_t> inputs) const;
  int64_t rows() const { return batch_size; }
  int64_t appetite(const State& state) const { return batch_size - state.open.size; }
  bool at_rest(const State& state) const { return state.open.size == 0; }
  Result<Flow> step(State& state, Run run, Emit& out, Context&) const;
  Result<Flow> finish(State& state, Emit& out, Context&) const;

 private:
  Run stacked(const Run& run, int32_t first, int64_t batches) const;
};

}  // namespace stoker
