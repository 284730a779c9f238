#include "stoker/image/color.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stoker {
namespace {

using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Color, RotatesHuesAroundTheCircle) {
  const Floats red{1, 0, 0}, dull{0.5, 0.25, 0.25};
  Floats out(3);
  adjust_hue(red.data(), 1.0f / 3, out.data(), 1);
  EXPECT_NEAR(out[1], 1, 1e-6);
  adjust_hue(red.data(), -1.0f / 3, out.data(), 1);
  EXPECT_NEAR(out[2], 1, 1e-6);
  adjust_hue(dull.data(), 0.5f, out.data(), 1);
  EXPECT_EQ(out, (Floats{0.25, 0.5, 0.5}));
  for (float once : {-1.0f, 1.0f}) {
    adjust_hue(dull.data(), once, out.data(), 1);
    EXPECT_EQ(out, dull);
  }
}

TEST(Color, DecreasesAndIncreasesSaturation) {
  const Floats color{0.5, 0.25, 0.25};
  Floats out(3);
  adjust_saturation(color.data(), 0, out.data(), 1);
  EXPECT_EQ(out, (Floats{0.5, 0.5, 0.5}));
  adjust_saturation(color.data(), 9, out.data(), 1);
  EXPECT_EQ(out, (Floats{0.5, 0, 0}));
}

TEST(Color, ConvertsToOtherSpacesAndBack) {
  Floats colors;
  for (int i = 0; i < 300; ++i) colors.push_back(static_cast<float>(i * 67 % 101) / 100);
  Floats hsv(colors.size()), yuv(colors.size()), back(colors.size());
  rgb_to_hsv(colors.data(), hsv.data(), 100);
  hsv_to_rgb(hsv.data(), back.data(), 100);
  for (size_t i = 0; i < colors.size(); ++i) EXPECT_NEAR(back[i], colors[i], 1e-6);
  times_matrix(colors.data(), kRgbToYuv, yuv.data(), 100);
  times_matrix(yuv.data(), kYuvToRgb, yuv.data(), 100);
  for (size_t i = 0; i < colors.size(); ++i) EXPECT_NEAR(yuv[i], colors[i], 1e-5);
}

TEST(Color, AcceptsNonFiniteNumbers) {
  for (float odd : {kNan, kInfinity, -kInfinity}) {
    Floats color{odd, 0.5f, 0.25f};
    Floats out(3);
    adjust_hue(color.data(), 0.3f, out.data(), 1);
    adjust_saturation(color.data(), 0.3f, out.data(), 1);
    rgb_to_hsv(color.data(), out.data(), 1);
    hsv_to_rgb(color.data(), out.data(), 1);
    adjust_gamma(color.data(), 2.2f, 1, out.data(), 3);
    EXPECT_EQ(std::isfinite(out[0]), false);
    EXPECT_FLOAT_EQ(out[1], std::pow(0.5f, 2.2f));
  }
}

TEST(Color, ComputesPowersWithFloatPrecision) {
  for (float gamma : {0.0f, 0.45f, 1.0f, 2.2f, 31.0f, 1e5f})
    for (float value = 1e-30f; value < 1e30f; value *= 1.7f) {
      float out = 0;
      adjust_gamma(&value, gamma, 1, &out, 1);
      const double exact = std::pow(static_cast<double>(value), static_cast<double>(gamma));
      EXPECT_FLOAT_EQ(out, static_cast<float>(exact)) << value << " ^ " << gamma;
    }
  const Floats ends{0, -1, 1e-40f};
  Floats out(3);
  adjust_gamma(ends.data(), 0.5f, 2, out.data(), 3);
  EXPECT_EQ(out[0], 0);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_FLOAT_EQ(out[2], 2 * std::sqrt(1e-40f));
}

TEST(Color, ChangesContrastAroundTheMeanOfEachChannel) {
  const Floats pixels{0, 4, 2, 8};
  Floats out(4);
  adjust_contrast(pixels.data(), 2, out.data(), 2, 2);
  EXPECT_EQ(out, (Floats{-1, 2, 3, 10}));
}

TEST(Color, StandardizesAConstantImage) {
  const Floats pixels{1, 3}, flat(16, 7.0f);
  Floats out(2), none(16);
  standardize(pixels.data(), out.data(), 2);
  EXPECT_EQ(out, (Floats{-1, 1}));
  standardize(flat.data(), none.data(), 16);
  EXPECT_EQ(none, Floats(16, 0.0f));
}

}  // namespace
}  // namespace stoker
