#include "stoker/transforms/assert_cardinality.h"

namespace stoker {

Result<Flow> AssertCardinality::step(State& state, Run run, Emit& out, Context&) const {
  int32_t row = 0;
  for (; row < run.size; ++row) {
    const Failure* failure = run.failed.empty() ? nullptr : run.failure_of(row);
    if (failure && failure->struck) continue;
    if (expected_cardinality >= 0 && state.seen == expected_cardinality) break;
    ++state.seen;
  }
  if (row == run.size) {
    out.put(std::move(run));
    return Flow::kMore;
  }
  const Origin extra = run.origins.at(row);
  if (row > 0) out.put(run.slice(0, row));
  out.put(Run::failure(
      Error::precondition("the input has more than the expected ", expected_cardinality, " elements").set_unskippable(),
      extra, true));
  return Flow::kDone;
}

Result<Flow> AssertCardinality::finish(State& state, Emit& out, Context& context) const {
  const bool endless = expected_cardinality == kInfinite;
  if (endless || (expected_cardinality >= 0 && state.seen < expected_cardinality))
    out.put(Run::failure(
        Error::precondition("the input ended after ", state.seen, " elements, expected ",
                            endless ? std::string("an infinite input") : std::to_string(expected_cardinality))
            .set_unskippable(),
        context.origin(), true));
  return Flow::kDone;
}

}  // namespace stoker
