#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Keeps the elements index, index + num_shards, index + 2 * num_shards, …: one of num_shards equal parts.
struct Shard {
  static constexpr std::string_view kName = "shard";
  static constexpr std::string_view kDoc = "Keep every num_shards-th element, starting with element index.";

  int64_t num_shards = 1;
  int64_t index = 0;

  void describe(Fields& f) {
    f.required("num_shards", num_shards, "number of shards, at least 1");
    f.required("index", index, "number of this shard, 0 to num_shards - 1");
  }

  Result<void> check() const {
    if (num_shards <= 0) return Error::invalid("num_shards must be at least 1, got ", num_shards);
    if (index < 0 || index >= num_shards)
      return Error::invalid("index must be from 0 to ", num_shards - 1, ", got ", index);
    return {};
  }
  int64_t length(int64_t n) const { return n > index ? (n - index - 1) / num_shards + 1 : 0; }
  int64_t at(int64_t i) const { return index + i * num_shards; }
};

}  // namespace stoker
