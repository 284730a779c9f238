#pragma once

#include <cstdint>

#include "stoker/core/dtype.h"

namespace stoker {

// The checksum of TFRecord files: CRC-32 with Castagnoli's polynomial. To continue the checksum of
// earlier bytes, pass it as `before`.
uint32_t crc32c(Bytes bytes, uint32_t before = 0);

// The reference version; a build without ISA-L uses it.
uint32_t crc32c_by_table(Bytes bytes, uint32_t before = 0);

// The form that TFRecord stores, because the checksum of data that contains checksums would be
// weak.
constexpr uint32_t masked_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t masked_crc32c(Bytes bytes) { return masked_crc(crc32c(bytes)); }

}  // namespace stoker
