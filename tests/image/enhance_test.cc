#include "stoker/image/enhance.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

// tests/python/image_tensorflow_test.py compares with Pillow itself.

using Values = std::vector<uint8_t>;

template <typename Change>
Values changed(const Values& from, int64_t height, int64_t width, int64_t channels, Change change) {
  Values to(from.size());
  change(ImageView{from.data(), height, width, channels, width * channels, DType::kUint8},
         MutableImageView{to.data(), height, width, channels, width * channels, DType::kUint8});
  return to;
}

TEST(Enhance, ScalesBrightness) {
  const auto by = [](float factor) {
    return changed({0, 100, 200}, 1, 3, 1, [&](auto from, auto to) { enhance_brightness(from, factor, to); });
  };
  EXPECT_EQ(by(0.5f), (Values{0, 50, 100}));
  EXPECT_EQ(by(2), (Values{0, 200, 255}));
  EXPECT_EQ(by(-1), (Values{0, 0, 0}));
}

TEST(Enhance, ChangesContrastAroundTheMeanGray) {
  const auto by = [](float factor) {
    return changed({100, 200}, 1, 2, 1, [&](auto from, auto to) { enhance_contrast(from, factor, to); });
  };
  EXPECT_EQ(by(0), (Values{150, 150}));
  EXPECT_EQ(by(1.5f), (Values{75, 225}));
}

TEST(Enhance, RemovesColor) {
  EXPECT_EQ(changed({255, 0, 0}, 1, 1, 3, [](auto from, auto to) { enhance_color(from, 0, to); }),
            (Values{76, 76, 76}));
}

TEST(Enhance, SmoothsAllButTheBorder) {
  Values from(9, 0);
  from[4] = 130;
  Values smooth(9, 0);
  smooth[4] = 50;
  EXPECT_EQ(changed(from, 3, 3, 1, [](auto in, auto to) { enhance_sharpness(in, 0, to); }), smooth);
  for (int64_t width : {1, 2})
    EXPECT_EQ(changed(Values(static_cast<size_t>(width), 7), 1, width, 1,
                      [](auto in, auto to) { enhance_sharpness(in, 0, to); }),
              Values(static_cast<size_t>(width), 7));
}

TEST(Enhance, ChangesLevels) {
  EXPECT_EQ(changed({255, 128, 127}, 1, 3, 1, [](auto from, auto to) { posterize(from, 1, to); }),
            (Values{128, 128, 0}));
  EXPECT_EQ(changed({255, 9}, 1, 2, 1, [](auto from, auto to) { posterize(from, 0, to); }), (Values{0, 0}));
  EXPECT_EQ(changed({255, 9}, 1, 2, 1, [](auto from, auto to) { posterize(from, 8, to); }), (Values{255, 9}));
  EXPECT_EQ(changed({10, 100}, 1, 2, 1, [](auto from, auto to) { solarize(from, 100, to); }), (Values{10, 155}));
  EXPECT_EQ(changed({10, 60, 110}, 1, 3, 1, stretch_contrast), (Values{0, 127, 255}));
  EXPECT_EQ(changed({9, 9}, 1, 2, 1, stretch_contrast), (Values{9, 9}));
  EXPECT_EQ(changed({9, 9}, 1, 2, 1, equalize), (Values{9, 9}));
}

TEST(Enhance, EqualizesLevels) {
  Values half(1024, 100);
  std::fill(half.begin() + 512, half.end(), uint8_t{110});
  const Values equal = changed(half, 32, 32, 1, equalize);
  EXPECT_EQ(equal.front(), 0);
  EXPECT_EQ(equal.back(), 255);
}

TEST(Affine, UsesTheNearestPixelAndBlackOutside) {
  const auto mapped = [](const Affine& map) {
    return changed({1, 2, 3, 4}, 2, 2, 1, [&](auto from, auto to) { affine_nearest(from, map, to); });
  };
  EXPECT_EQ(mapped({1, 0, 0, 0, 1, 0}), (Values{1, 2, 3, 4}));
  EXPECT_EQ(mapped({1, 0, 1, 0, 1, 0}), (Values{2, 0, 4, 0}));
  EXPECT_EQ(mapped({1, 0, 1e6, 0, 1, -1e6}), (Values{0, 0, 0, 0}));
  EXPECT_EQ(mapped(rotation(90, 2, 2)), (Values{2, 4, 1, 3}));
  EXPECT_EQ(mapped(rotation(-90, 2, 2)), (Values{3, 1, 4, 2}));
  EXPECT_EQ(mapped(rotation(180, 2, 2)), (Values{4, 3, 2, 1}));
  EXPECT_EQ(mapped(rotation(-360, 2, 2)), (Values{1, 2, 3, 4}));
}

}  // namespace
}  // namespace stoker
