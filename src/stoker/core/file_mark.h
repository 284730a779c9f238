#pragma once

#include <cstdint>

namespace stoker {

// What tells a file from another, or from its former self, without reading all of it.
struct FileMark {
  int64_t bytes = 0;
  int64_t changed_ns = 0;  // when its bytes were last changed, by its file system
  uint64_t ends_hash = 0;  // of its first and last 4 KB; a copy's is the same

  bool same_bytes(const FileMark& other) const { return bytes == other.bytes && ends_hash == other.ends_hash; }
};

}  // namespace stoker
