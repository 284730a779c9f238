#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Each element with its number before it.
struct Enumerate {
  static constexpr std::string_view kName = "enumerate";
  static constexpr std::string_view kDoc = "Number the elements.";

  int64_t start = 0;

  void describe(Fields& f) { f("start", start, "the first number"); }

  Result<Spec> spec(std::span<const Spec> inputs) const {
    if (!inputs[0].known()) return Spec::unknown();
    Spec spec{Nest::tuple({Nest::leaf(), inputs[0].nest}), inputs[0].leaves};
    spec.leaves.insert(spec.leaves.begin(), LeafSpec{DType::kInt64, std::vector<int64_t>{}});
    return spec;
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  EngineParams engine() const { return {.kind = EngineKind::kEnumerate, .count = start}; }
};

}  // namespace stoker
