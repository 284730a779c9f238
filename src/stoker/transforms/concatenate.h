#pragma once

#include <limits>

#include "stoker/graph/stage.h"

namespace stoker {

// Yields the elements of the input, then those of another dataset.
struct Concatenate {
  static constexpr std::string_view kName = "concatenate";
  static constexpr std::string_view kDoc = "Append the elements of another dataset.";

  Graph dataset;

  void describe(Fields& f) {
    f.required("dataset", dataset, "dataset whose elements follow, with the same structure and types");
  }

  std::vector<Graph> graphs() const { return {dataset}; }
  Result<Spec> spec(std::span<const Spec> inputs) const {
    if (std::optional<Spec> both = common(inputs[0], inputs[1])) return *both;
    return Error::invalid("the first dataset has elements ", inputs[0].describe(), ", the second ",
                          inputs[1].describe(), "; both must have the same structure and types");
  }
  int64_t cardinality(std::span<const int64_t> inputs) const {
    if (inputs[0] == kInfinite || inputs[1] == kInfinite) return kInfinite;
    if (inputs[0] == kUnknown || inputs[1] == kUnknown) return kUnknown;
    int64_t both = 0;
    return __builtin_add_overflow(inputs[0], inputs[1], &both) ? std::numeric_limits<int64_t>::max() : both;
  }
  ConcatenateParams engine() const { return {}; }
};

}  // namespace stoker
