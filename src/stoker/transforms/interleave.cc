#include "stoker/transforms/interleave.h"

#include <algorithm>

#include "stoker/graph/graph.h"

namespace stoker {

Spec spec_of_opened(const GraphFunction& function, const Spec& input) {
  const auto is_path = [](const LeafSpec& leaf) {
    return leaf.type == DType::kBytes && leaf.shape && leaf.shape->empty();
  };
  if (!function.written() || !input.nest || !std::ranges::all_of(input.leaves, is_path)) return Spec::unknown();
  Element paths(input.nest, {});
  for (size_t i = 0; i < input.leaves.size(); ++i) paths.leaves.push_back(Array::of_bytes(""));
  const SeedScope apart(0);  // this dataset is not kept and draws no seeds of those that are
  const Result<Graph> opened = function.open(paths);
  return opened ? opened->node()->spec : Spec::unknown();
}

Result<void> Interleave::check() const {
  if (map_func.empty()) return Error::invalid("map_func is missing, expected a function that returns a dataset");
  if (cycle_length && *cycle_length <= 0 && *cycle_length != kAutotune)
    return Error::invalid("cycle_length must be at least 1, got ", *cycle_length);
  if (cycle() > 1'000'000) return Error::invalid("cycle_length must be at most 1,000,000, got ", *cycle_length);
  if (block_length && *block_length <= 0) return Error::invalid("block_length must be at least 1, got ", *block_length);
  if (num_parallel_calls && *num_parallel_calls <= 0 && *num_parallel_calls != kAutotune)
    return Error::invalid("num_parallel_calls must be at least 1, or -1 for automatic, got ", *num_parallel_calls);
  return {};
}

Interleave::State Interleave::start(const Pass&) const {
  State state;
  state.open.resize(static_cast<size_t>(cycle()), 0);
  return state;
}

Result<void> Interleave::check_state(const State& state) const {
  const bool fits = static_cast<int64_t>(state.open.size()) == cycle() && state.slot >= 0 && state.slot < cycle() &&
                    state.in_block >= 0 && state.in_block < block();
  if (!fits) return Error::invalid("the checkpoint is damaged: slot ", state.slot, " of ", state.open.size());
  return {};
}

int Interleave::input(const State& state) const {
  return state.open[static_cast<size_t>(state.slot)] ? static_cast<int>(state.slot) + 1 : 0;
}

int64_t Interleave::max_rows(const State& state) const { return input(state) == 0 ? 1 : block() - state.in_block; }

void Interleave::next_slot(State& state) const {
  state.in_block = 0;
  const int64_t n = cycle();
  for (int64_t i = 0; i < n; ++i) {
    state.slot = (state.slot + 1) % n;
    if (!state.exhausted || state.open[static_cast<size_t>(state.slot)]) return;
  }
}

Result<Flow> Interleave::step(State& state, Run run, Emit& out, Context&) const {
  if (input(state) != 0) {  // from an open dataset
    int64_t placed = run.size;
    for (const Failure& failure : run.failed) placed -= failure.struck;
    out.put(std::move(run));
    state.in_block += placed;
    if (state.in_block >= block()) next_slot(state);
    return Flow::kMore;
  }
  if (const Failure* failure = run.failure_of(0)) {
    // The function failed, so there is no dataset to open. The failure takes the turn of the dataset.
    const bool struck = failure->struck;
    out.put(std::move(run));
    if (!struck) next_slot(state);
    return Flow::kMore;
  }
  const Origin origin = run.origins.at(0);
  if (Result<void> opened = out.open(static_cast<int>(state.slot), run.element(0), origin); !opened) {
    out.put(Run::failure(std::move(opened).error(), origin));
    next_slot(state);
    return Flow::kMore;
  }
  state.open[static_cast<size_t>(state.slot)] = 1;
  return Flow::kMore;
}

Result<Flow> Interleave::finish(State& state, Emit&, Context&) const {
  if (input(state) == 0) {  // there are no more datasets to open
    state.exhausted = true;
  } else {
    state.open[static_cast<size_t>(state.slot)] = 0;
  }
  next_slot(state);
  const bool any = std::ranges::count(state.open, 1) > 0;
  return state.exhausted && !any ? Flow::kDone : Flow::kMore;
}

}  // namespace stoker
