#pragma once

#include "stoker/transforms/interleave.h"

namespace stoker {

// Opens a dataset for each element and yields their elements, one dataset after the other.
struct FlatMap {
  static constexpr std::string_view kName = "flat_map";
  static constexpr std::string_view kDoc = "Open a dataset for each element and concatenate the datasets.";
  using State = Interleave::State;

  GraphFunction map_func;

  void describe(Fields& f) { f.required("map_func", map_func, "function from an element to a dataset"); }

  Result<void> check() const { return as_interleave().check(); }
  bool calls_user() const { return !map_func.written(); }
  PassUse pass_use() const { return map_func.pass_use(); }
  std::vector<Graph> captured() const { return map_func.captured(); }
  State start(const Pass& pass) const { return as_interleave().start(pass); }
  Result<void> check_state(const State& state) const { return as_interleave().check_state(state); }
  Result<Spec> spec(std::span<const Spec> inputs) const { return spec_of_opened(map_func, inputs[0]); }
  Result<Graph> open_graph(const Element& element) const { return map_func.open(element); }
  int input(const State& state) const { return as_interleave().input(state); }
  int64_t max_rows(const State& state) const { return as_interleave().max_rows(state); }
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const {
    return as_interleave().step(state, std::move(run), out, context);
  }
  Result<Flow> finish(State& state, Emit& out, Context& context) const {
    return as_interleave().finish(state, out, context);
  }

 private:
  // An interleave with one open dataset at a time and blocks without a limit.
  Interleave as_interleave() const { return {.map_func = map_func, .cycle_length = 1, .block_length = kEndless}; }
};

}  // namespace stoker
