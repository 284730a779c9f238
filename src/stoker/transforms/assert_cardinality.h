#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Promises a number of elements and fails, once, when there are more or fewer.
struct AssertCardinality {
  static constexpr std::string_view kName = "assert_cardinality";
  static constexpr std::string_view kDoc = "Promise a number of elements and check it.";
  static constexpr bool kSeesFailures = true;

  int64_t expected_cardinality = 0;

  struct State {
    int64_t seen = 0;
    void describe(Fields& f) { f("seen", seen); }
  };

  void describe(Fields& f) {
    f.required("expected_cardinality", expected_cardinality, "how many; -1: without end, -2: not known");
  }

  Result<void> check() const {
    if (expected_cardinality < kUnknown)
      return Error::invalid("expected_cardinality must be -2 or more, found ", expected_cardinality);
    return {};
  }
  Result<void> check_state(const State& state) const {
    if (state.seen < 0 || state.seen > kEndless) return Error::invalid("the checkpoint is damaged: seen ", state.seen);
    return {};
  }
  int64_t cardinality(std::span<const int64_t>) const { return expected_cardinality; }
  Result<Flow> step(State& state, Run run, Emit& out, Context&) const;
  Result<Flow> finish(State& state, Emit& out, Context&) const;
};

}  // namespace stoker
