#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Splits each element along the first axis of its components.
struct Unbatch {
  static constexpr std::string_view kName = "unbatch";
  static constexpr std::string_view kDoc = "Split batches into their rows.";

  struct State {
    void describe(Fields&) {}
  };

  void describe(Fields&) {}

  Result<Spec> spec(std::span<const Spec> inputs) const;
  // Known where there are no batches, or all are known to have as many rows, and some.
  int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const;
  Result<Flow> step(State&, Element element, Emit& out, Context& context) const;
};

}  // namespace stoker
