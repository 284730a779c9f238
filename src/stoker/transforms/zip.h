#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Combines elements of several datasets into tuples. Ends with the shortest dataset.
struct Zip {
  static constexpr std::string_view kName = "zip";
  static constexpr std::string_view kDoc =
      "Combine the elements of several datasets into tuples, until the shortest one ends.";

  std::vector<Graph> datasets;

  void describe(Fields& f) { f.required("datasets", datasets, "datasets to combine, at least one"); }

  Result<void> check() const {
    if (datasets.empty()) return Error::invalid("expected at least one dataset, got an empty list");
    return {};
  }
  std::vector<Graph> graphs() const { return datasets; }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  int64_t cardinality(std::span<const int64_t> inputs) const;
  ZipParams engine() const { return {}; }
};

}  // namespace stoker
