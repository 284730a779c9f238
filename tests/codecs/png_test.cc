#include "stoker/codecs/png.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/core/rng.h"
#include "support/pngs.h"

namespace stoker {
namespace {

using Samples = std::vector<uint16_t>;
using namespace std::string_literals;

struct Decoded {
  ImageInfo info;
  Samples samples;
};

// The gap between rows shows whether anything is written there.
Result<Decoded> decoded(Bytes bytes, const PngOptions& options = {}) {
  Decoded result;
  std::vector<uint8_t> memory;
  int64_t stride = 0;
  const Result<void> done = decode_png(bytes, options, [&](const ImageInfo& info) -> Result<PixelRows> {
    result.info = info;
    stride = info.width * info.channels * info.bit_depth / 8 + 4;
    memory.assign(static_cast<size_t>(info.height * stride), 7);
    return PixelRows{reinterpret_cast<std::byte*>(memory.data()), stride};
  });
  if (!done) return done.error();
  EXPECT_EQ(*png_info(bytes, options), result.info);
  for (int64_t y = 0; y < result.info.height; ++y) {
    const uint8_t* row = memory.data() + y * stride;
    for (int64_t i = 0; i < result.info.width * result.info.channels; ++i) {
      uint16_t wide = row[i];
      if (options.bit_depth == 16) std::memcpy(&wide, row + 2 * i, 2);
      result.samples.push_back(wide);
    }
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(row) + stride - 4, 4), "\7\7\7\7");
  }
  return result;
}

Samples samples_of(const std::string& bytes, const PngOptions& options = {}) {
  const Result<Decoded> result = decoded(bytes, options);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message());
  return result ? result->samples : Samples{};
}

std::string complaint(Bytes bytes, const PngOptions& options = {}) {
  const Result<Decoded> result = decoded(bytes, options);
  return result ? "" : result.error().message();
}

Samples random_samples(int count, int bit_depth) {
  Samples samples;
  Rng rng(5, 6, 7, 8);
  for (int i = 0; i < count; ++i) samples.push_back(static_cast<uint16_t>(rng.uniform() * (1 << bit_depth)));
  return samples;
}

TEST(Png, ReturnsItsSamplesUnchanged) {
  const Samples grey = random_samples(35, 8), both = random_samples(70, 8), rgb = random_samples(105, 8),
                rgba = random_samples(140, 8);
  EXPECT_EQ(samples_of(make_png({.height = 5, .width = 7, .color_type = 0, .samples = grey})), grey);
  EXPECT_EQ(samples_of(make_png({.height = 5, .width = 7, .color_type = 4, .samples = both})), both);
  EXPECT_EQ(samples_of(make_png({.height = 5, .width = 7, .color_type = 2, .samples = rgb})), rgb);
  EXPECT_EQ(samples_of(make_png({.height = 5, .width = 7, .color_type = 6, .samples = rgba})), rgba);
}

TEST(Png, ReturnsSixteenBitsOrTheirUpperHalf) {
  for (const int type : {0, 4, 2, 6}) {
    const Samples wide = random_samples(12 * (type == 0 ? 1 : type == 4 ? 2 : type == 2 ? 3 : 4), 16);
    const std::string bytes = make_png({.height = 3, .width = 4, .bit_depth = 16, .color_type = type, .samples = wide});
    Samples upper = wide;
    for (uint16_t& sample : upper) sample >>= 8;
    EXPECT_EQ(samples_of(bytes, {.bit_depth = 16}), wide);
    EXPECT_EQ(samples_of(bytes), upper);
  }
}

TEST(Png, WidensEightBitsToSixteen) {
  EXPECT_EQ(samples_of(make_png({.samples = {0, 1, 255}}), {.bit_depth = 16}), (Samples{0, 257, 65535}));
}

TEST(Png, ScalesFewBitsToTheWholeRange) {
  for (const int depth : {1, 2, 4}) {
    const Samples few = random_samples(33, depth);
    Samples spread = few;
    for (uint16_t& sample : spread) sample = static_cast<uint16_t>(sample * 255 / ((1 << depth) - 1));
    EXPECT_EQ(samples_of(make_png({.height = 3, .width = 11, .bit_depth = depth, .color_type = 0, .samples = few})),
              spread);
  }
}

TEST(Png, AppliesItsPalette) {
  TestPng png{.width = 3, .color_type = 3, .samples = {2, 0, 1}, .palette = "abcdefghi"};
  EXPECT_EQ(samples_of(make_png(png)), (Samples{'g', 'h', 'i', 'a', 'b', 'c', 'd', 'e', 'f'}));
  png.bit_depth = 2;
  EXPECT_EQ(samples_of(make_png(png)), (Samples{'g', 'h', 'i', 'a', 'b', 'c', 'd', 'e', 'f'}));
  png.transparent = "\x80";
  EXPECT_EQ(samples_of(make_png(png)), (Samples{'g', 'h', 'i', 255, 'a', 'b', 'c', 128, 'd', 'e', 'f', 255}));
  EXPECT_EQ(samples_of(make_png(png), {.channels = 3}), (Samples{'g', 'h', 'i', 'a', 'b', 'c', 'd', 'e', 'f'}));
}

TEST(Png, IsBlackWhereAnIndexIsOutsideThePalette) {
  EXPECT_EQ(samples_of(make_png({.color_type = 3, .samples = {3}, .palette = "abcdef"})), (Samples{0, 0, 0}));
}

TEST(Png, KeepsTransparencyIfTheResultHasAlpha) {
  const std::string rgb =
      make_png({.width = 2, .samples = {1, 2, 3, 4, 5, 6}, .transparent = std::string("\0\4\0\5\0\6", 6)});
  EXPECT_EQ(samples_of(rgb), (Samples{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples_of(rgb, {.channels = 4}), (Samples{1, 2, 3, 255, 4, 5, 6, 0}));
  const std::string grey =
      make_png({.width = 2, .color_type = 0, .samples = {9, 8}, .transparent = std::string("\0\x9", 2)});
  EXPECT_EQ(samples_of(grey, {.channels = 2}), (Samples{9, 0, 8, 255}));
  EXPECT_EQ(samples_of(grey, {.channels = 4, .bit_depth = 16}),
            (Samples{2313, 2313, 2313, 0, 2056, 2056, 2056, 65535}));
}

TEST(Png, IsDecodedToRgbOrGrayOnRequest) {
  const std::string grey = make_png({.color_type = 4, .samples = {40, 50}});
  EXPECT_EQ(samples_of(grey, {.channels = 1}), (Samples{40}));
  EXPECT_EQ(samples_of(grey, {.channels = 3}), (Samples{40, 40, 40}));
  EXPECT_EQ(samples_of(grey, {.channels = 4}), (Samples{40, 40, 40, 50}));
  const std::string rgb = make_png({.samples = {10, 200, 90}});
  EXPECT_EQ(samples_of(rgb, {.channels = 1}), (Samples{130}));  // 130.65, truncated
  EXPECT_EQ(samples_of(rgb, {.channels = 2}), (Samples{130, 255}));
  EXPECT_EQ(samples_of(rgb, {.channels = 1, .bit_depth = 16}), (Samples{130 * 257}));
  const std::string wide = make_png({.bit_depth = 16, .samples = {1000, 20000, 9000}});
  EXPECT_EQ(samples_of(wide, {.channels = 1, .bit_depth = 16}), (Samples{13065}));  // 13065, rounded
}

TEST(Png, MayBeInterlaced) {
  for (const int width : {1, 2, 3, 5, 8, 9, 17})
    for (const int height : {1, 3, 8, 11})
      for (const int depth : {8, 16}) {
        TestPng png{.height = height, .width = width, .bit_depth = depth};
        png.samples = random_samples(height * width * 3, depth);
        const std::string plain = make_png(png);
        png.interlaced = true;
        for (int channels = 1; channels <= 4; ++channels)
          for (const int bits : {8, 16})
            EXPECT_EQ(samples_of(make_png(png), {channels, bits}), samples_of(plain, {channels, bits}));
      }
}

TEST(Png, TruncatedAnywhereIsDataLoss) {
  for (const bool interlaced : {false, true}) {
    const std::string bytes =
        make_png({.height = 9, .width = 9, .interlaced = interlaced, .samples = random_samples(243, 8)});
    // The last four bytes, the checksum of an empty chunk, are not read.
    for (size_t size = 0; size < bytes.size() - 4; ++size) {
      const std::string cut = bytes.substr(0, size);  // a copy, so that sanitizers detect reads beyond the end
      const Result<Decoded> result = decoded(cut);
      ASSERT_FALSE(result.ok()) << size << " of " << bytes.size();
      EXPECT_EQ(result.error().code(), Code::kDataLoss) << size;
    }
  }
  EXPECT_EQ(complaint(make_png({.samples = {1, 2, 3}}).substr(0, 50)), "PNG data ends early: it has 50 bytes");
}

TEST(Png, WithAnyBitChangedIsAnError) {
  const std::string bytes = make_png({.height = 3, .width = 3, .color_type = 0, .samples = random_samples(9, 8)});
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string changed = bytes;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(decoded(changed).ok()) << i;
  }
}

TEST(Png, OfEnormousSizeIsRejectedBeforeAllocation) {
  const auto claiming = [](uint32_t height, uint32_t width) {
    const std::string header = big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5);
    return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", zlibbed("")) + png_chunk("IEND", "");
  };
  EXPECT_EQ(complaint(claiming(1 << 30, 1 << 30)),
            "an image of 1073741824x1073741824 exceeds the limit of 268435456 pixels");
  const std::string large = claiming(10'000, 10'000);
  EXPECT_EQ(complaint(large),
            "PNG data ends early: " + std::to_string(large.size()) + " bytes cannot hold an image of 10000x10000");
  EXPECT_EQ(decoded(claiming(0, 5)).error().code(), Code::kDataLoss);
}

TEST(Png, RejectsOtherData) {
  EXPECT_EQ(complaint(""), "expected PNG data, got 0 bytes");
  EXPECT_EQ(decoded("no PNG at all, this").error().code(), Code::kDataLoss);
}

TEST(Png, RejectsInvalidOptions) {
  EXPECT_EQ(complaint("", {.channels = 5}), "a PNG cannot be decoded to 5 channels, expected 0 to 4");
  EXPECT_EQ(complaint("", {.bit_depth = 12}), "a PNG cannot be decoded to 12 bits, expected 8 or 16");
}

TEST(Png, IsEncodedAndDecodedAgain) {
  for (const int channels : {1, 3}) {
    const Samples samples = random_samples(35 * channels, 8);
    std::vector<std::byte> pixels;
    for (const uint16_t sample : samples) pixels.push_back(static_cast<std::byte>(sample));
    const std::string bytes = *encode_png({5, 7, channels, 8}, pixels.data());
    EXPECT_EQ(samples_of(bytes), samples);
    EXPECT_EQ(*encode_png({5, 7, channels, 8}, pixels.data()), bytes);
  }
  EXPECT_EQ(encode_png({5, 7, 4, 8}, nullptr).error().message(),
            "expected 1 or 3 channels of 8 bits for a PNG, got 4 of 8 bits");
}

}  // namespace
}  // namespace stoker
