#pragma once

#include <cstdint>

namespace stoker::prepare {

// Where a record is in its file.
struct RecordPlace {
  int64_t record = 0;  // position in the file; for damage that cannot be counted, that of the next record
  int64_t offset = 0;  // byte offset of the frame in the uncompressed data
};

}  // namespace stoker::prepare
