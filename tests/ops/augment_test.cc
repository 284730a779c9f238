#include "stoker/ops/augment.h"

#include <algorithm>
#include <set>

#include "support/elements.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array noise(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<uint8_t>(i * i * 37 >> 2));
  return Array::from(values).reshaped(dims);
}

template <typename Op>
size_t different(const Op& op, const Array& input, int32_t n) {
  std::set<std::string> seen;
  for (const Array& made : for_elements(op, {input}, n)) {
    EXPECT_EQ(shape_text(made.shape()), shape_text(input.shape()));
    EXPECT_EQ(made.type(), input.type());
    seen.emplace(static_cast<const char*>(made.raw()), static_cast<size_t>(made.byte_size()));
  }
  return seen.size();
}

OP_EXAMPLE(Augment{.operation = "Rotate", .magnitude = 20}, image_rows);
OP_EXAMPLE(RandAugment{}, image_rows);
OP_EXAMPLE(TrivialAugment{}, image_rows);
OP_EXAMPLE(ColorJitter{.brightness = {0.4}, .hue = {0.1}}, image_rows);
OP_EXAMPLE(RandomErasing{}, image_rows);

TEST(Augmenting, ChangesImagesDifferentlyForEachElement) {
  for (const Array& input : {noise({16, 17, 3}), noise({2, 8, 9, 1})}) {
    EXPECT_GT(different(RandAugment{}, input, 50), 25u);
    EXPECT_GT(different(RandAugment{.num_ops = 3}, input, 50), 25u);
    EXPECT_GT(different(TrivialAugment{}, input, 50), 25u);
    EXPECT_EQ(different(RandAugment{.num_ops = 0}, input, 5), 1u);
  }
  EXPECT_EQ(for_elements(RandAugment{}, {noise({9, 9, 3})}, 20), for_elements(RandAugment{}, {noise({9, 9, 3})}, 20));
}

TEST(Augmenting, AppliesOneOperationByName) {
  const Array image = array<uint8_t>({1, 2, 3, 4}, {2, 2, 1});
  EXPECT_EQ(*eval([](Value x) { return image::augment(x, {"TranslateX", 1.5}); }, {image}),
            array<uint8_t>({0, 1, 0, 3}, {2, 2, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::augment(x, {"Identity"}); }, {image}), image);
  EXPECT_EQ(complaint([](Value x) { return image::augment(x, {"Posterize", 9}); }, {image}),
            "magnitude 9 is outside the range of Posterize");
  EXPECT_EQ(complaint([](Value x) { return image::augment(x, {"Blur", 9}); }, {image}).substr(0, 40),
            "operation must be one of Identity, Shear");
}

TEST(Augmenting, RejectsImagesThatPillowDoesNotSupport) {
  EXPECT_EQ(complaint([](Value x) { return image::rand_augment(x); }, {array<float>({0}, {1, 1, 1})}),
            "expected a uint8 image, got float32");
  EXPECT_EQ(complaint([](Value x) { return image::trivial_augment(x); }, {noise({2, 2, 2})}),
            "expected an image with 1 or 3 channels, got shape [2, 2, 2]");
  EXPECT_EQ(complaint([](Value x) { return image::rand_augment(x, {.magnitude = 31}); }, {noise({2, 2, 3})}),
            "magnitude must be 0 to 30, got 31");
  EXPECT_EQ(complaint([](Value x) { return image::trivial_augment(x, {.num_magnitude_bins = 1}); }, {noise({2, 2, 3})}),
            "num_magnitude_bins must be at least 2, got 1");
}

TEST(ColorJitterOp, DrawsFactorsOrdersAndHues) {
  EXPECT_GT(different(ColorJitter{{0.4}, {0.4}, {0.4}, {0.1}}, noise({8, 8, 3}), 50), 45u);
  EXPECT_GT(different(ColorJitter{{0.4}, {0.4}, {0.4}, {0.1}}, array<float>({0.1f, 0.2f, 0.9f}, {1, 1, 3}), 50), 40u);
  EXPECT_GT(different(ColorJitter{.hue = {-0.1, 0.4}}, noise({2, 8, 8, 3}), 50), 45u);
  EXPECT_EQ(different(ColorJitter{}, noise({8, 8, 3}), 5), 1u);
  EXPECT_EQ(different(ColorJitter{.hue = {0.5}}, noise({8, 8, 1}), 5), 1u);
}

TEST(ColorJitterOp, StaysInTheGivenRange) {
  float least = 1, most = 0;
  for (const Array& made :
       for_elements(ColorJitter{.brightness = {0.5, 1.5}}, {array<float>({0.5f}, {1, 1, 1})}, 1000)) {
    least = std::min(least, made.values<float>()[0]);
    most = std::max(most, made.values<float>()[0]);
  }
  EXPECT_NEAR(least, 0.25, 0.01);
  EXPECT_NEAR(most, 0.75, 0.01);
  EXPECT_GE(least, 0.25f);
  EXPECT_EQ(complaint([](Value x) { return image::color_jitter(x, {.hue = {0.6}}); }, {noise({2, 2, 3})}),
            "hue must be between -0.5 and 0.5, got -0.5 to 0.6");
  EXPECT_EQ(complaint([](Value x) { return image::color_jitter(x, {.contrast = {-1}}); }, {noise({2, 2, 3})}),
            "contrast must be one number of at least 0 or two numbers, got a list of 1");
}

TEST(RandomErasingOp, ErasesTheGivenFractionOfImages) {
  const Array white = array<float>(std::vector<float>(300, 1), {10, 10, 3});
  int erased = 0;
  for (const Array& made : for_elements(RandomErasing{.p = 0.3, .value = {-1, -2, -3}}, {white}, 1000)) {
    if (made == white) continue;
    ++erased;
    for (int64_t i = 0; i < 100; ++i) {
      const float* pixel = made.values<float>().data() + 3 * i;
      EXPECT_TRUE((pixel[0] == 1 && pixel[1] == 1 && pixel[2] == 1) ||
                  (pixel[0] == -1 && pixel[1] == -2 && pixel[2] == -3));
    }
  }
  EXPECT_NEAR(erased, 300, 80);
}

TEST(RandomErasingOp, AcceptsPlanes) {
  const Array white = array<uint8_t>(std::vector<uint8_t>(300, 1), {3, 10, 10});
  for (const Array& made : for_elements(
           RandomErasing{.p = 1, .scale = {0.2, 0.2}, .ratio = {1, 1}, .value = {900}, .layout = "CHW"}, {white}, 20))
    EXPECT_EQ(std::ranges::count(made.values<uint8_t>(), 255), 3 * 16);
  EXPECT_EQ(complaint([](Value x) { return image::random_erasing(x, {.value = {1, 2}}); }, {noise({2, 2, 3})}),
            "value has 2 numbers, expected 1 or one for each of the 3 channels");
  EXPECT_EQ(complaint([](Value x) { return image::random_erasing(x, {.p = 2}); }, {noise({2, 2, 3})}),
            "p must be 0 to 1, got 2");
}

}  // namespace
}  // namespace stoker
