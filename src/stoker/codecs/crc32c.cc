#include "stoker/codecs/crc32c.h"

#include <algorithm>
#include <array>

#ifdef STOKER_HAVE_ISAL
#include <isa-l.h>
#endif

namespace stoker {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// Table k: what a byte does to the checksum when k bytes follow it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  return tables;
}();

uint32_t eight_bytes(uint32_t crc, const char* at) {
  uint32_t next = 0;
  for (size_t i = 0; i < 8; ++i) {
    const uint32_t mixed = static_cast<uint8_t>(at[i]) ^ (i < 4 ? crc >> (8 * i) & 255 : 0);
    next ^= kTables[7 - i][mixed];
  }
  return next;
}

}  // namespace

uint32_t crc32c_by_table(Bytes bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) crc = eight_bytes(crc, bytes.data());
  for (const char byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(byte)) & 255];
  return ~crc;
}

#ifdef STOKER_HAVE_ISAL

uint32_t crc32c(Bytes bytes, uint32_t before) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // ISA-L counts in an int
  uint32_t crc = ~before;
  while (!bytes.empty()) {
    const Bytes piece = bytes.substr(0, kMostAtOnce);
    auto* at = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    crc = crc32_iscsi(at, static_cast<int>(piece.size()), crc);
    bytes.remove_prefix(piece.size());
  }
  return ~crc;
}

#else

uint32_t crc32c(Bytes bytes, uint32_t before) { return crc32c_by_table(bytes, before); }

#endif

}  // namespace stoker
