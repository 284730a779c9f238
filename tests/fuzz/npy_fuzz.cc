// Any bytes give an array of exactly their values, a zip file of such arrays, or an error.
#include <cstddef>
#include <cstdint>

#include "stoker/codecs/archive.h"
#include "stoker/core/error.h"
#include "stoker/graph/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using stoker::Bytes;
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    const auto members = stoker::read_zip(bytes, 1 << 20);
    for (size_t i = 0; members && i < members->size(); ++i) (void)stoker::parse_npy((*members)[i].second);
    return 0;
  }
  const stoker::Result<stoker::Array> array = stoker::parse_npy(bytes);
  if (array) STOKER_CHECK(static_cast<size_t>(array->byte_size()) < size);
  return 0;
}
