#include "stoker/codecs/idx.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string idx(char type, const std::vector<uint32_t>& dims, const std::string& values) {
  std::string file{0, 0, type, static_cast<char>(dims.size())};
  for (const uint32_t dim : dims)
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(dim >> shift);
  return file + values;
}

std::string complaint(const std::string& file) {
  const auto array = parse_idx(file);
  return array ? "" : array.error().message();
}

TEST(Idx, ReadsBytesOfAnyShape) {
  const Array images = parse_idx(idx(8, {2, 1, 3}, "abcdef")).value();
  EXPECT_EQ(images,
            Array::from(std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}).reshaped(std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(parse_idx(idx(9, {2}, "\x01\xff")).value(), Array::from(std::vector<int8_t>{1, -1}));
  EXPECT_EQ(parse_idx(idx(8, {0, 28, 28}, ""))->count(), 0);
  EXPECT_EQ(parse_idx(idx(8, {}, "a")).value(), Array::of<uint8_t>('a'));
}

TEST(Idx, ConvertsBigEndianValues) {
  EXPECT_EQ(parse_idx(idx(11, {2}, std::string("\x01\x02\xff\xff", 4))).value(),
            Array::from(std::vector<int16_t>{258, -1}));
  EXPECT_EQ(parse_idx(idx(12, {1}, std::string("\0\0\1\0", 4))).value(), Array::from(std::vector<int32_t>{256}));
  EXPECT_EQ(parse_idx(idx(13, {1}, std::string("\x3f\x80\0\0", 4))).value(), Array::from(std::vector<float>{1}));
  EXPECT_EQ(parse_idx(idx(14, {1}, std::string("\xbf\xf0\0\0\0\0\0\0", 8))).value(),
            Array::from(std::vector<double>{-1}));
}

TEST(Idx, RequiresExactlyTheBytesThatItsHeaderDeclares) {
  EXPECT_EQ(complaint(idx(8, {2, 3}, "abcde")),
            "an idx file of shape [2, 3] and type uint8 has 5 bytes of values, expected 6");
  EXPECT_EQ(complaint(idx(8, {2, 3}, "abcdefg")),
            "an idx file of shape [2, 3] and type uint8 has 7 bytes of values, expected 6");
  EXPECT_EQ(complaint(idx(14, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, "a")),
            "an idx file of shape [4294967295, 4294967295, 4294967295] and type float64 has 1 bytes of values, "
            "expected far more");
}

TEST(Idx, RejectsOtherData) {
  EXPECT_EQ(complaint(""),
            "the data is not an idx file, which starts with two zero bytes, a type and the number of dims");
  EXPECT_EQ(complaint("\x89PNG"), complaint(""));
  EXPECT_EQ(complaint(std::string("\0\0\x0a\x01", 4)),
            "an idx file has the unknown type 10, expected 8, 9, 11, 12, 13 or 14");
  EXPECT_EQ(complaint(std::string("\0\0\x08\x03\0\0", 6)), "an idx file of 3 dims ends inside its header, at byte 6");
  EXPECT_EQ(complaint("\x1f\x8b"), "expected an idx file, got GZIP data; decompress it first");
}

}  // namespace
}  // namespace stoker
