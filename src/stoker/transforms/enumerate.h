#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Pairs each element with its index: (index, element).
struct Enumerate {
  static constexpr std::string_view kName = "enumerate";
  static constexpr std::string_view kDoc = "Pair each element with its int64 index, as in Python's enumerate.";

  int64_t start = 0;

  void describe(Fields& f) { f("start", start, "index of the first element"); }

  Result<Spec> spec(std::span<const Spec> inputs) const {
    if (!inputs[0].known()) return Spec::unknown();
    Spec spec{Nest::tuple({Nest::leaf(), inputs[0].nest}), inputs[0].leaves};
    spec.leaves.insert(spec.leaves.begin(), LeafSpec{DType::kInt64, std::vector<int64_t>{}});
    return spec;
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  EnumerateParams engine() const { return {.start = start}; }
};

}  // namespace stoker
