#include "stoker/codecs/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

std::string noise(size_t size) {
  Rng rng(1, 2, 3, 4);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.bits32());
  return bytes;
}

// The vectors of RFC 3720, B.4.
TEST(Crc32c, MatchesTheKnownChecksums) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
}

TEST(Crc32c, IsTheSameWithTables) {
  const std::string bytes = noise(5000);
  for (size_t begin = 0; begin < 9; ++begin)
    for (size_t size = 0; begin + size <= bytes.size(); size += 1 + size / 16) {
      const Bytes part = Bytes(bytes).substr(begin, size);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << begin << " " << size;
    }
}

TEST(Crc32c, ContinuesAnEarlierChecksum) {
  const std::string bytes = noise(1000);
  for (const size_t cut : {0, 1, 7, 8, 500, 1000}) {
    const Bytes front = Bytes(bytes).substr(0, cut), rest = Bytes(bytes).substr(cut);
    EXPECT_EQ(crc32c(rest, crc32c(front)), crc32c(bytes)) << cut;
    EXPECT_EQ(crc32c_by_table(rest, crc32c_by_table(front)), crc32c(bytes)) << cut;
  }
}

TEST(Crc32c, IsMaskedAsInTFRecord) {
  EXPECT_EQ(masked_crc32c(""), 0xa282ead8u);
  EXPECT_EQ(masked_crc32c(std::string(8, '\0')), 0x07980329u);
}

}  // namespace
}  // namespace stoker
