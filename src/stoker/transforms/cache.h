#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Keeps elements in memory for later passes, up to the memory budget. Elements that do not fit are computed again.
struct Cache {
  static constexpr std::string_view kName = "cache";
  static constexpr std::string_view kDoc = "Keep elements in memory for later passes, up to the memory budget.";

  std::string filename;

  void describe(Fields& f) {
    f("filename", filename, "must be \"\", which caches in memory; caching in files is not implemented");
  }

  Result<void> check() const {
    if (!filename.empty())
      return Error::unimplemented("caching in files is not implemented; omit filename to cache in memory");
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  CacheParams engine() const { return {}; }
};

}  // namespace stoker
