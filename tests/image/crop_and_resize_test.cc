#include "stoker/image/crop_and_resize.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace stoker {
namespace {

std::vector<float> resized(std::array<float, 4> box, bool nearest, int64_t height, int64_t width) {
  static const std::vector<uint8_t> pixels{0, 10, 20, 30, 40, 50, 60, 70, 80};
  std::vector<float> out(static_cast<size_t>(height * width));
  crop_and_resize({pixels.data(), 3, 3, 1, 3, DType::kUint8}, box, nearest, -1,
                  {out.data(), height, width, 1, width * 4, DType::kFloat32});
  return out;
}

using Floats = std::vector<float>;

TEST(CropAndResize, MapsCornersToTheFirstAndLastPixel) {
  EXPECT_EQ(resized({0, 0, 1, 1}, false, 2, 2), (Floats{0, 20, 60, 80}));
  EXPECT_EQ(resized({0, 0, 0.5f, 1}, false, 1, 5), (Floats{15, 20, 25, 30, 35}));
  EXPECT_EQ(resized({1, 1, 0, 0}, false, 2, 2), (Floats{80, 60, 20, 0}));
  EXPECT_EQ(resized({0, 0, 1, 1}, true, 1, 1), (Floats{40}));
}

TEST(CropAndResize, FillsPixelsOutsideTheImage) {
  EXPECT_EQ(resized({0, -0.5f, 0, 1.5f}, false, 1, 3), (Floats{-1, 10, -1}));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kHuge = std::numeric_limits<float>::max();
  EXPECT_EQ(resized({kNan, 0, 1, 1}, true, 1, 2), (Floats{-1, -1}));
  EXPECT_EQ(resized({-kHuge, -kHuge, kHuge, kHuge}, false, 2, 1), (Floats{-1, -1}));
}

}  // namespace
}  // namespace stoker
