#pragma once

#include "stoker/transforms/interleave.h"

namespace stoker {

// Opens a data set for each element and gives them one after the other.
struct FlatMap {
  static constexpr std::string_view kName = "flat_map";
  static constexpr std::string_view kDoc = "Open a data set for each element and give them one after the other.";
  static constexpr bool kSeesFailures = true;
  using State = Interleave::State;

  GraphFunction map_func;

  void describe(Fields& f) { f.required("map_func", map_func, "from an element to a data set"); }

  Result<void> check() const { return as_interleave().check(); }
  bool calls_user() const { return !map_func.written(); }
  State start(const Pass& pass) const { return as_interleave().start(pass); }
  Result<void> check_state(const State& state) const { return as_interleave().check_state(state); }
  Result<Spec> spec(std::span<const Spec>) const { return Spec::unknown(); }
  Result<Graph> open_graph(const Element& element) const { return map_func.open(element); }
  int input(const State& state) const { return as_interleave().input(state); }
  int64_t appetite(const State& state) const { return as_interleave().appetite(state); }
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const {
    return as_interleave().step(state, std::move(run), out, context);
  }
  Result<Flow> finish(State& state, Emit& out, Context& context) const {
    return as_interleave().finish(state, out, context);
  }

 private:
  // One open at a time, a block without end.
  Interleave as_interleave() const { return {.map_func = map_func, .cycle_length = 1, .block_length = kEndless}; }
};

}  // namespace stoker
