#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Keeps the elements in memory, as far as the budget allows, for later passes.
struct Cache {
  static constexpr std::string_view kName = "cache";
  static constexpr std::string_view kDoc = "Keep elements in memory for later passes.";

  std::string filename;

  void describe(Fields& f) { f("filename", filename, "\"\": in memory; files are not there yet"); }

  Result<void> check() const {
    if (!filename.empty()) return Error::unimplemented("a cache in a file is not there yet; leave filename out");
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  EngineParams engine() const { return {.kind = EngineKind::kCache}; }
};

}  // namespace stoker
