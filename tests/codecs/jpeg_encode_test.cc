#include "stoker/codecs/jpeg_encode.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "stoker/codecs/jpeg.h"

namespace stoker {
namespace {

std::vector<uint8_t> slope(const ImageInfo& info) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < info.height; ++y)
    for (int64_t x = 0; x < info.width; ++x)
      for (int c = 0; c < info.channels; ++c) pixels.push_back(static_cast<uint8_t>(40 + 3 * x + 2 * y + 20 * c));
  return pixels;
}

const std::byte* bytes(const std::vector<uint8_t>& pixels) { return reinterpret_cast<const std::byte*>(pixels.data()); }

TEST(JpegEncode, ProducesAnImageThatDecodesToSimilarPixels) {
  for (int channels : {1, 3})
    for (bool downsampling : {false, true}) {
      const ImageInfo info{17, 23, channels, 8};
      const std::vector<uint8_t> pixels = slope(info);
      const int64_t stride = info.width * channels;
      const std::string jpeg =
          encode_jpeg(info, bytes(pixels), stride, {.quality = 95, .chroma_downsampling = downsampling}).value();
      EXPECT_EQ(jpeg_info(jpeg).value(), info);
      std::vector<uint8_t> decoded(pixels.size());
      const auto place = [&](const ImageInfo&) -> Result<PixelRows> {
        return PixelRows{reinterpret_cast<std::byte*>(decoded.data()), stride};
      };
      ASSERT_TRUE(decode_jpeg(jpeg, {.dct = JpegDct::kIntegerAccurate}, place).ok());
      int most = 0;
      for (size_t i = 0; i < pixels.size(); ++i) most = std::max(most, std::abs(pixels[i] - decoded[i]));
      EXPECT_LE(most, 8) << channels << " channels, downsampling " << downsampling;
    }
}

TEST(JpegEncode, ProducesFewerBytesForLowerQuality) {
  const ImageInfo info{64, 64, 3, 8};
  std::vector<uint8_t> noise(64 * 64 * 3);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(i * i * 31 >> 3);
  size_t before = 0;
  for (int quality : {0, 20, 60, 100}) {
    const size_t size = encode_jpeg(info, bytes(noise), 64 * 3, {.quality = quality}).value().size();
    EXPECT_GT(size, before);
    before = size;
  }
}

TEST(JpegEncode, RejectsImagesThatJpegDoesNotSupport) {
  const std::vector<uint8_t> pixels(16);
  EXPECT_EQ(encode_jpeg({2, 2, 2, 8}, bytes(pixels), 4).error().message(),
            "expected 1 or 3 channels for a JPEG, got 2");
  EXPECT_EQ(encode_jpeg({0, 2, 1, 8}, bytes(pixels), 2).error().message(),
            "expected sides of 1 to 65500 for a JPEG, got 0x2");
  EXPECT_EQ(encode_jpeg({1, 70000, 1, 8}, bytes(pixels), 2).error().message(),
            "expected sides of 1 to 65500 for a JPEG, got 1x70000");
  EXPECT_EQ(encode_jpeg({2, 2, 1, 8}, bytes(pixels), 2, {.quality = 101}).error().message(),
            "expected a JPEG quality of 0 to 100, got 101");
}

}  // namespace
}  // namespace stoker
