#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Declares the number of elements and checks it. If the input has more or fewer elements, the stage emits one
// FailedPrecondition error and ends. on_error does not skip this error.
struct AssertCardinality {
  static constexpr std::string_view kName = "assert_cardinality";
  static constexpr std::string_view kDoc =
      "Declare the number of elements, and raise an error if the input has more or fewer.";

  int64_t expected_cardinality = 0;

  struct State {
    int64_t seen = 0;
    void describe(Fields& f) { f("seen", seen); }
  };

  void describe(Fields& f) {
    f.required("expected_cardinality", expected_cardinality, "number of elements; -1: infinite, -2: unknown");
  }

  Result<void> check() const {
    if (expected_cardinality < kUnknown)
      return Error::invalid("expected_cardinality must be -2 or more, got ", expected_cardinality);
    return {};
  }
  Result<void> check_state(const State& state) const {
    if (state.seen < 0 || state.seen > kEndless)
      return Error::invalid("the checkpoint is damaged: the number of elements seen is ", state.seen);
    return {};
  }
  int64_t cardinality(std::span<const int64_t>) const { return expected_cardinality; }
  Result<Flow> step(State& state, Run run, Emit& out, Context&) const;
  Result<Flow> finish(State& state, Emit& out, Context& context) const;
};

}  // namespace stoker
