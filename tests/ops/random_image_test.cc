#include "stoker/ops/random_image.h"

#include <algorithm>
#include <set>

#include "support/elements.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

// Returns the minimum and the maximum of a value over the results for many elements.
template <typename Op>
std::pair<float, float> range_of(const Op& op, const Array& input, size_t at) {
  float least = std::numeric_limits<float>::max(), most = -least;
  for (const Array& made : for_elements(op, {input}, 1000)) {
    least = std::min(least, made.values<float>()[at]);
    most = std::max(most, made.values<float>()[at]);
  }
  return {least, most};
}

OP_EXAMPLE(RandomContrast{.lower = 0.5, .upper = 1.5}, image_rows);
OP_EXAMPLE(RandomHue{.max_delta = 0.3}, image_rows);
OP_EXAMPLE(RandomSaturation{.lower = 0.5, .upper = 1.5}, image_rows);
OP_EXAMPLE(RandomFlipUpDown{}, image_rows);
OP_EXAMPLE(RandomJpegQuality{.min_jpeg_quality = 20, .max_jpeg_quality = 90}, image_rows);

TEST(RandomImages, DrawContrastFromTheGivenRange) {
  // The mean is 0, so the second value is the factor.
  const auto [least, most] = range_of(RandomContrast{.lower = 0.5, .upper = 1.5}, array<float>({-1, 1}, {1, 2, 1}), 1);
  EXPECT_GE(least, 0.5f);
  EXPECT_LT(least, 0.52f);
  EXPECT_LT(most, 1.5f);
  EXPECT_GT(most, 1.48f);
}

TEST(RandomImages, DrawSaturationFromTheGivenRange) {
  // The saturation is 1/2 and the value is 1, so green is 1 - factor / 2.
  const auto [least, most] =
      range_of(RandomSaturation{.lower = 0.5, .upper = 1.5}, array<float>({1, 0.5, 0.5}, {1, 1, 3}), 1);
  EXPECT_GT(least, 0.25f);
  EXPECT_LT(least, 0.26f);
  EXPECT_LE(most, 0.75f);
  EXPECT_GT(most, 0.74f);
}

TEST(RandomImages, DrawHueFromTheGivenRange) {
  // Red, rotated by at most a sixth of a turn: green or blue is 6 * delta.
  const auto [least, most] = range_of(RandomHue{.max_delta = 0.1}, array<float>({1, 0, 0}, {1, 1, 3}), 1);
  EXPECT_EQ(least, 0);
  EXPECT_LE(most, 0.6f);
  EXPECT_GT(most, 0.58f);
}

TEST(RandomImages, FlipAboutHalfOfTheImages) {
  const Array image = array<uint8_t>({1, 2}, {2, 1, 1});
  int mirrored = 0;
  for (const Array& made : for_elements(RandomFlipUpDown{}, {image}, 1000)) mirrored += made != image;
  EXPECT_NEAR(mirrored, 500, 80);
}

TEST(RandomImages, DrawJpegQuality) {
  std::vector<uint8_t> noise;
  for (size_t i = 0; i < 192; ++i) noise.push_back(static_cast<uint8_t>(i * i * 37 >> 2));
  const Array image = array<uint8_t>(noise, {8, 8, 3});
  std::set<int> firsts;
  const RandomJpegQuality op{.min_jpeg_quality = 1, .max_jpeg_quality = 60};
  for (const Array& made : for_elements(op, {image}, 50)) firsts.insert(made.values<uint8_t>()[0]);
  EXPECT_GT(firsts.size(), 5u);
}

TEST(RandomImages, WithTheSameSeedDrawTheSameNumbers) {
  const Array image = array<uint8_t>({1, 2}, {2, 1, 1});
  EXPECT_EQ(for_elements(RandomFlipUpDown{.seed = 4}, {image}, 50),
            for_elements(RandomFlipUpDown{.seed = 4}, {image}, 50));
  EXPECT_NE(for_elements(RandomFlipUpDown{.seed = 4}, {image}, 50),
            for_elements(RandomFlipUpDown{.seed = 5}, {image}, 50));
}

TEST(RandomImages, RejectInvalidRanges) {
  const Array pixel = array<float>({0, 0, 0}, {1, 1, 3});
  EXPECT_EQ(complaint([](Value x) { return image::random_contrast(x, {.lower = 1, .upper = 1}); }, {pixel}),
            "lower must be at least 0 and upper must be greater, got 1 and 1");
  EXPECT_EQ(complaint([](Value x) { return image::random_saturation(x, {.lower = -1, .upper = 1}); }, {pixel}),
            "lower must be at least 0 and upper must be greater, got -1 and 1");
  EXPECT_EQ(complaint([](Value x) { return image::random_hue(x, {.max_delta = 0.6}); }, {pixel}),
            "max_delta must be at most 0.5, got 0.6");
  EXPECT_EQ(complaint([](Value x) { return image::random_jpeg_quality(x, {9, 101}); }, {pixel}),
            "min_jpeg_quality must be at least 0 and max_jpeg_quality must be greater and at most 100, got 9 and 101");
}

}  // namespace
}  // namespace stoker
