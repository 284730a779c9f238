#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Elements of several data sets side by side, until the first of them ends.
struct Zip {
  static constexpr std::string_view kName = "zip";
  static constexpr std::string_view kDoc = "Elements of several data sets side by side.";

  std::vector<Graph> datasets;

  void describe(Fields& f) { f.required("datasets", datasets, "two or more data sets"); }

  Result<void> check() const {
    if (datasets.empty()) return Error::invalid("at least one data set is wanted");
    return {};
  }
  std::vector<Graph> graphs() const { return datasets; }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  int64_t cardinality(std::span<const int64_t> inputs) const;
  EngineParams engine() const { return {.kind = EngineKind::kZip}; }
};

}  // namespace stoker
