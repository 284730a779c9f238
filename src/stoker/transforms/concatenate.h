#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// One data set and then another.
struct Concatenate {
  static constexpr std::string_view kName = "concatenate";
  static constexpr std::string_view kDoc = "One data set and then another.";

  Graph dataset;

  void describe(Fields& f) { f.required("dataset", dataset, "what follows"); }

  std::vector<Graph> graphs() const { return {dataset}; }
  Result<Spec> spec(std::span<const Spec> inputs) const {
    if (std::optional<Spec> both = common(inputs[0], inputs[1])) return *both;
    return Error::invalid("elements are ", inputs[0].words(), " and then ", inputs[1].words(),
                          "; both must have the same structure and types");
  }
  int64_t cardinality(std::span<const int64_t> inputs) const {
    if (inputs[0] == kInfinite || inputs[1] == kInfinite) return kInfinite;
    if (inputs[0] == kUnknown || inputs[1] == kUnknown) return kUnknown;
    return inputs[0] + inputs[1];
  }
  EngineParams engine() const { return {.kind = EngineKind::kConcatenate}; }
};

}  // namespace stoker
