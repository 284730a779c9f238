#include "stoker/ops/image_basics.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array small() { return array<uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3, 1}); }

// Returns the results of an operation for the elements 0, 1, … of a dataset.
template <typename Op>
Arrays for_elements(const Op& op, const Array& input, int32_t n) {
  const Origins origins(0, 0, 0, n);
  Context context(1, 2, nullptr);
  context.set_origins(&origins);
  Arrays made;
  for (int32_t i = 0; i < n; ++i) {
    context.set_row(i);
    made.push_back(op.apply(std::span<const Array>(&input, 1), context).value());
  }
  return made;
}

OP_EXAMPLE(FlipLeftRight{}, image_rows);
OP_EXAMPLE(FlipUpDown{}, image_rows);
OP_EXAMPLE(RandomFlipLeftRight{}, image_rows);
OP_EXAMPLE(AdjustBrightness{.delta = 0.1}, image_rows);
OP_EXAMPLE(RandomBrightness{.max_delta = 0.2}, image_rows);
OP_EXAMPLE(ConvertImageDtype{.dtype = DType::kFloat32}, image_rows);

TEST(Flips, FlipImagesAndBatches) {
  EXPECT_EQ(*eval([](Value x) { return image::flip_left_right(x); }, {small()}),
            array<uint8_t>({3, 2, 1, 6, 5, 4}, {2, 3, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::flip_up_down(x); }, {small()}),
            array<uint8_t>({4, 5, 6, 1, 2, 3}, {2, 3, 1}));
  EXPECT_EQ(
      *eval([](Value x) { return image::flip_left_right(x); }, {small().reshaped(std::vector<int64_t>{2, 1, 3, 1})}),
      array<uint8_t>({3, 2, 1, 6, 5, 4}, {2, 1, 3, 1}));
}

TEST(Flips, RejectArraysThatAreNotImages) {
  EXPECT_EQ(complaint([](Value x) { return image::flip_left_right(x); }, {array<int>({1, 2}, {1, 2})}),
            "expected an image of shape [height, width, channels] or a batch of images, got shape [1, 2]");
}

TEST(RandomFlips, FlipAboutHalfOfTheElements) {
  const Array flipped = *eval([](Value x) { return image::flip_left_right(x); }, {small()});
  int mirrored = 0;
  for (const Array& made : for_elements(RandomFlipLeftRight{}, small(), 1000)) {
    EXPECT_TRUE(made == flipped || made == small());
    mirrored += made == flipped;
  }
  EXPECT_NEAR(mirrored, 500, 80);
}

TEST(RandomFlips, WithTheSameSeedDrawTheSameNumbers) {
  const Array mask = array<int64_t>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const auto images = for_elements(RandomFlipLeftRight{.seed = 7}, small(), 50);
  const auto masks = for_elements(RandomFlipLeftRight{.seed = 7}, mask, 50);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(images[i] == small(), masks[i] == mask);
  EXPECT_NE(images, for_elements(RandomFlipLeftRight{.seed = 8}, small(), 50));
}

TEST(Brightness, IsAdjustedInTheRangeFromZeroToOne) {
  EXPECT_EQ(*eval([](Value x) { return image::adjust_brightness(x, {.delta = 0.1}); }, {array<uint8_t>({100, 250})}),
            array<uint8_t>({125, 255}));
}

TEST(Brightness, IsDrawnFromTheGivenRange) {
  float least = 1, most = -1;
  for (const Array& made : for_elements(RandomBrightness{.max_delta = 0.25}, array<float>({0}), 1000)) {
    least = std::min(least, made.values<float>()[0]);
    most = std::max(most, made.values<float>()[0]);
  }
  EXPECT_GE(least, -0.25f);
  EXPECT_LT(least, -0.24f);
  EXPECT_LT(most, 0.25f);
  EXPECT_GT(most, 0.24f);
  EXPECT_EQ(complaint([](Value x) { return image::random_brightness(x, {.max_delta = -1}); }, {array<float>({0})}),
            "max_delta must be at least 0, got -1");
}

TEST(ConvertImageDtype, ScalesBetweenTypes) {
  EXPECT_EQ(*eval([](Value x) { return image::convert_image_dtype(x, {.dtype = DType::kUint8}); },
                  {array<float>({0, 0.5, 1, 1.5})}),
            array<uint8_t>({0, 127, 255, 127}));
  EXPECT_EQ(*eval([](Value x) { return image::convert_image_dtype(x, {.dtype = DType::kUint8, .saturate = true}); },
                  {array<float>({-1, 1.5})}),
            array<uint8_t>({0, 255}));
  EXPECT_EQ(
      complaint([](Value x) { return image::convert_image_dtype(x, {.dtype = DType::kBool}); }, {array<float>({0})}),
      "expected an image of integers or floats, got bool");
}

}  // namespace
}  // namespace stoker
