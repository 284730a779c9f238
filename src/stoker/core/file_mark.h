#pragma once

#include <cstdint>

namespace stoker {

// Identifies a version of a file without reading all of it.
struct FileMark {
  int64_t bytes = 0;
  int64_t changed_ns = 0;  // modification time
  uint64_t ends_hash = 0;  // of the first and last 4 KB; a copy has the same hash

  bool same_bytes(const FileMark& other) const { return bytes == other.bytes && ends_hash == other.ends_hash; }
};

}  // namespace stoker
