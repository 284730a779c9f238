// Any bytes have one of the eight orientations and some kind of file.
#include <cstddef>
#include <cstdint>

#include "stoker/codecs/exif.h"
#include "stoker/codecs/file_kind.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  const int orientation = exif_orientation(bytes);
  STOKER_CHECK(orientation >= 1 && orientation <= 8);
  STOKER_CHECK(!not_a_image(bytes).message().empty());
  return 0;
}
