#include "stoker/image/normalize.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// Every width, layout and number of channels gives the bits of the documented formula.
TEST(Normalize, HasTheSameBitsInEveryLayout) {
  for (int64_t channels : {1, 2, 3, 4})
    for (int64_t width : {1, 7, 33, 100}) {
      const int64_t height = 2, n = height * width * channels;
      std::vector<uint8_t> pixels;
      for (int64_t i = 0; i < n; ++i) pixels.push_back(static_cast<uint8_t>(i * 37));
      Normalization how{unit_scale(DType::kUint8), {0.485f, 0.456f, 0.406f, 0.5f}, {0.229f, 0.224f, 0.225f, 0.25f}};
      how.mean.resize(static_cast<size_t>(channels));
      how.std.resize(static_cast<size_t>(channels));
      std::vector<float> as_pixels(pixels.size()), as_planes(pixels.size());
      const ImageView view{pixels.data(), height, width, channels, width * channels, DType::kUint8};
      normalize_image(view, how, Layout::kPixels, as_pixels.data());
      normalize_image(view, how, Layout::kPlanes, as_planes.data());
      for (int64_t i = 0; i < n; ++i) {
        const auto c = static_cast<size_t>(i % channels);
        const float scaled = static_cast<float>(pixels[static_cast<size_t>(i)]) * (1.0f / 255);
        const float shifted = scaled - how.mean[c];
        const float wanted = shifted / how.std[c];
        EXPECT_EQ(as_pixels[static_cast<size_t>(i)], wanted);
        EXPECT_EQ(as_planes[c * static_cast<size_t>(height * width) + static_cast<size_t>(i / channels)], wanted);
      }
    }
}

TEST(Normalize, ScalesIntegersToOneButNotFloats) {
  EXPECT_EQ(unit_scale(DType::kUint8), 1.0f / 255);
  EXPECT_EQ(unit_scale(DType::kUint16), 1.0f / 65535);
  EXPECT_EQ(unit_scale(DType::kFloat32), 1.0f);
  EXPECT_EQ(unit_scale(DType::kFloat16), 1.0f);
}

}  // namespace
}  // namespace stoker
