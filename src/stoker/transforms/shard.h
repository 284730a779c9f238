#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Every num_shards-th element, from `index` on: one worker's even share.
struct Shard {
  static constexpr std::string_view kName = "shard";
  static constexpr std::string_view kDoc = "Keep one of every num_shards elements.";

  int64_t num_shards = 1;
  int64_t index = 0;

  void describe(Fields& f) {
    f.required("num_shards", num_shards, "into how many parts");
    f.required("index", index, "which part, from 0");
  }

  Result<void> check() const {
    if (num_shards <= 0) return Error::invalid("num_shards must be at least 1, found ", num_shards);
    if (index < 0 || index >= num_shards)
      return Error::invalid("index must be from 0 to ", num_shards - 1, ", found ", index);
    return {};
  }
  int64_t length(int64_t n) const { return n > index ? (n - index - 1) / num_shards + 1 : 0; }
  int64_t at(int64_t i) const { return index + i * num_shards; }
};

}  // namespace stoker
