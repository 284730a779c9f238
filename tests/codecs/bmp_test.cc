#include "stoker/codecs/bmp.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/decoded.h"
#include "support/little_endian.h"

namespace stoker {
namespace {

using namespace std::string_literals;
using Samples = std::vector<int>;

struct TestBmp {
  int64_t width = 1;
  int64_t height = 1;  // negative: the first row is at the top
  int bits = 24;
  int compression = 0;
  int colours = 0;
  std::string masks = "";
  std::string palette = "";  // blue, green, red, unused
  std::string pixels = "";   // the rows of the file, with their padding
  int header = 40;
};

std::string make_bmp(const TestBmp& bmp) {
  std::string info = le32(bmp.header) + le32(bmp.width) + le32(bmp.height) + le16(1) + le16(bmp.bits);
  if (bmp.header >= 40) info += le32(bmp.compression) + le32(0) + le32(0) + le32(0) + le32(bmp.colours) + le32(0);
  info += bmp.masks;
  if (info.size() < static_cast<size_t>(bmp.header)) info.resize(static_cast<size_t>(bmp.header));
  const std::string before = info + bmp.palette;
  return "BM" + le32(0) + le32(0) + le32(static_cast<int64_t>(14 + before.size())) + before + bmp.pixels;
}

Result<DecodedImage> decoded(Bytes bytes, const BmpOptions& options = {}) {
  return decoded_by(decode_bmp, bmp_info, bytes, options);
}
Samples samples_of(const TestBmp& bmp, const BmpOptions& options = {}) {
  const Result<DecodedImage> result = decoded(make_bmp(bmp), options);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message());
  return result ? result->samples : Samples{};
}
std::string complaint(Bytes bytes, const BmpOptions& options = {}) {
  const Result<DecodedImage> result = decoded(bytes, options);
  return result ? "" : result.error().message();
}

// Black, then red, green, blue.
const std::string kColours = "\0\0\0\0\0\0\xff\0\0\xff\0\0\xff\0\0\0"s;

TEST(Bmp, ReturnsItsRowsFromTheTop) {
  const std::string lower = "\1\2\3\4\5\6\0\0"s, upper = "\7\x8\x9\xa\xb\xc\0\0"s;
  const Samples wanted{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4};
  EXPECT_EQ(samples_of({.width = 2, .height = 2, .pixels = lower + upper}), wanted);
  EXPECT_EQ(samples_of({.width = 2, .height = -2, .pixels = upper + lower}), wanted);
}

TEST(Bmp, AppliesItsPalette) {
  const Samples wanted{0, 0, 255, 255, 0, 0, 0, 255, 0};
  EXPECT_EQ(samples_of({.width = 3, .bits = 8, .colours = 4, .palette = kColours, .pixels = "\3\1\2\0"s}), wanted);
  EXPECT_EQ(samples_of({.width = 3, .bits = 4, .colours = 4, .palette = kColours, .pixels = "\x31\x20\0\0"s}), wanted);
  EXPECT_EQ(samples_of({.width = 3, .bits = 1, .palette = kColours.substr(0, 8), .pixels = "\xa0\0\0\0"s}),
            (Samples{255, 0, 0, 0, 0, 0, 255, 0, 0}));
}

TEST(Bmp, IsGrayIfItsPaletteIsGrayOrOnRequest) {
  const TestBmp greys{.width = 3, .bits = 1, .palette = "\0\0\0\0\xff\xff\xff\0"s, .pixels = "\xa0\0\0\0"s};
  EXPECT_EQ(samples_of(greys), (Samples{255, 0, 255}));
  EXPECT_EQ(samples_of(greys, {.channels = 3}), (Samples{255, 255, 255, 0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(samples_of({.pixels = "\x5a\xc8\xa\0"s}, {.channels = 1}), (Samples{130}));  // 130.65, truncated
}

TEST(Bmp, IsBlackWhereAnIndexIsOutsideThePalette) {
  EXPECT_EQ(samples_of({.bits = 8, .colours = 2, .palette = kColours.substr(0, 8), .pixels = "\7\0\0\0"s}),
            (Samples{0, 0, 0}));
}

TEST(Bmp, OfSixteenBitsScalesThemToTheWholeRange) {
  EXPECT_EQ(samples_of({.width = 2, .bits = 16, .pixels = "\xff\x7f\x01\x04"s}), (Samples{255, 255, 255, 8, 0, 8}));
  EXPECT_EQ(
      samples_of(
          {.bits = 16, .compression = 3, .masks = le32(0xf800) + le32(0x7e0) + le32(0x1f), .pixels = "\x21\x08\0\0"s}),
      (Samples{8, 4, 8}));
}

TEST(Bmp, OfThirtyTwoBitsHasAlphaUnlessItsMasksHaveNone) {
  EXPECT_EQ(samples_of({.bits = 32, .pixels = "\1\2\3\4"}), (Samples{3, 2, 1, 4}));
  EXPECT_EQ(samples_of({.bits = 32, .pixels = "\1\2\3\4"}, {.channels = 3}), (Samples{3, 2, 1}));
  EXPECT_EQ(
      samples_of(
          {.bits = 32, .compression = 3, .masks = le32(0xff) + le32(0xff00) + le32(0xff0000), .pixels = "\1\2\3\4"}),
      (Samples{1, 2, 3}));
  EXPECT_EQ(samples_of({.bits = 32,
                        .compression = 3,
                        .masks = le32(0xff) + le32(0xff00) + le32(0xff0000) + le32(0xff000000),
                        .pixels = "\1\2\3\4",
                        .header = 56}),
            (Samples{1, 2, 3, 4}));
  EXPECT_EQ(samples_of({.pixels = "\1\2\3\0"s}, {.channels = 4}), (Samples{3, 2, 1, 255}));
}

TEST(Bmp, MayHaveAnOs2Header) {
  const std::string old = "BM" + le32(0) + le32(0) + le32(32) + le32(12) + le16(2) + le16(1) + le16(1) + le16(1) +
                          "\1\2\3\4\5\6" + "\x40\0\0\0"s;
  EXPECT_EQ(decoded(old)->samples, (Samples{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(samples_of({.bits = 24, .pixels = "\1\2\3\0"s, .header = 16}), (Samples{3, 2, 1}));
}

// An image of width 4 and height 2, as indices into four grays.
TestBmp runs_of(int bits, const std::string& runs) {
  return {.width = 4,
          .height = 2,
          .bits = bits,
          .compression = bits == 8 ? 1 : 2,
          .colours = 4,
          .palette = "\0\0\0\0\1\1\1\0\2\2\2\0\3\3\3\0"s,
          .pixels = runs};
}

TEST(Bmp, MayBeRunLengthEncoded) {
  EXPECT_EQ(samples_of(runs_of(8, "\4\1\0\0\2\2\0\3\1\2\3\0\0\1"s)), (Samples{2, 2, 1, 2, 1, 1, 1, 1}));
  EXPECT_EQ(samples_of(runs_of(4, "\4\x12\0\0\0\3\x12\x30\1\x10\0\1"s)), (Samples{1, 2, 3, 1, 1, 2, 1, 2}));
  // A jump to the right and up, and the end.
  EXPECT_EQ(samples_of(runs_of(8, "\1\3\0\2\1\1\1\2\0\1"s)), (Samples{0, 0, 2, 0, 3, 0, 0, 0}));
  // Longer than the row: the rest is dropped.
  EXPECT_EQ(samples_of(runs_of(8, "\x9\1\0\0\1\2\0\1"s)), (Samples{2, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Bmp, TruncatedAnywhereIsDataLoss) {
  const std::vector<TestBmp> whole{
      {.width = 2, .height = 2, .pixels = "abcdef..abcdef"},
      {.width = 3, .bits = 8, .colours = 4, .palette = kColours, .pixels = "\3\1\2"},
      {.bits = 16, .compression = 3, .masks = le32(0xf800) + le32(0x7e0) + le32(0x1f), .pixels = "\1\2"},
      runs_of(8, "\4\1\0\0\2\2\0\3\1\2\3\0\0\1"s)};
  for (const TestBmp& bmp : whole) {
    const std::string bytes = make_bmp(bmp);
    ASSERT_TRUE(decoded(bytes).ok());
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Result<DecodedImage> result = decoded(Bytes(bytes).substr(0, size));
      ASSERT_FALSE(result.ok()) << size << " of " << bytes.size();
      EXPECT_EQ(result.error().code(), Code::kDataLoss) << size;
    }
  }
  EXPECT_EQ(complaint(make_bmp(whole[0]).substr(0, 60)),
            "BMP data ends early: it has 60 bytes, but an image of 2x2 needs 68");
  EXPECT_EQ(complaint("BM"), "BMP data ends inside its header: it has 2 bytes, expected at least 26");
}

TEST(Bmp, WithAnyByteChangedReturnsPixelsOrAnError) {
  for (const TestBmp& bmp : {TestBmp{.width = 2, .height = 2, .pixels = "abcdef..abcdef.."},
                             runs_of(8, "\4\1\0\0\2\2\0\3\1\2\3\0\0\1"s), runs_of(4, "\4\x12\0\0\0\3\x12\x30\0\1"s)}) {
    const std::string bytes = make_bmp(bmp);
    for (size_t i = 0; i < bytes.size(); ++i)
      for (const int change : {1, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ change);
        const Result<ImageInfo> info = bmp_info(changed);
        if (info && info->height * info->width > 1 << 16) continue;
        const Result<DecodedImage> result = decoded(changed);
        EXPECT_TRUE(result.ok() || !result.error().message().empty()) << "byte " << i;
      }
  }
}

TEST(Bmp, OfEnormousSizeIsRejectedBeforeAllocation) {
  EXPECT_EQ(complaint(make_bmp({.width = 1 << 30, .height = 1 << 30})),
            "an image of 1073741824x1073741824 exceeds the limit of 268435456 pixels");
  EXPECT_EQ(decoded(make_bmp({.width = 1 << 20, .height = -(int64_t{1} << 31)})).error().code(),
            Code::kResourceExhausted);
  EXPECT_EQ(decoded(make_bmp({.width = 10'000, .height = 10'000})).error().code(), Code::kDataLoss);
  EXPECT_EQ(decoded(make_bmp({.width = -3})).error().code(), Code::kDataLoss);
}

TEST(Bmp, OfAnUnsupportedKindIsRejected) {
  EXPECT_EQ(complaint(make_bmp({.bits = 2})), "a BMP with 2 bits per pixel and compression 0 is not supported");
  EXPECT_EQ(complaint(make_bmp({.bits = 24, .compression = 4})),
            "a BMP with 24 bits per pixel and compression 4 is not supported");
  EXPECT_EQ(complaint(make_bmp({.header = 99})), "a BMP header of 99 bytes is not supported");
  EXPECT_EQ(complaint("", {.channels = 2}), "a BMP cannot be decoded to 2 channels, expected 0, 1, 3 or 4");
}

}  // namespace
}  // namespace stoker
