#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Splits each element along the first axis of its components.
struct Unbatch {
  static constexpr std::string_view kName = "unbatch";
  static constexpr std::string_view kDoc = "Split each element into the rows of its first axis.";

  static constexpr bool kUnbatches = true;

  struct State {
    void describe(Fields&) {}
  };

  void describe(Fields&) {}

  Result<Spec> spec(std::span<const Spec> inputs) const;
  // Known if there are no batches, or if all batches have the same known number of rows, at least one.
  int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const;
  Result<Flow> step(State&, Element element, Emit& out, Context& context) const;
};

}  // namespace stoker
