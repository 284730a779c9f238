// Any bytes give an array of exactly their values, or an error.
#include <cstddef>
#include <cstdint>

#include "stoker/codecs/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const stoker::Result<stoker::Array> array = stoker::parse_idx({reinterpret_cast<const char*>(data), size});
  if (!array) return 0;
  STOKER_CHECK(4 + 4 * static_cast<size_t>(array->rank()) + static_cast<size_t>(array->byte_size()) == size);
  return 0;
}
