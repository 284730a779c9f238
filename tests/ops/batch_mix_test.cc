#include "stoker/ops/batch_mix.h"

#include <algorithm>

#include "support/elements.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array batch() { return array<uint8_t>({0, 0, 0, 0, 100, 100, 100, 100, 200, 200, 200, 200}, {3, 2, 2, 1}); }

Arrays images_and_shares(int64_t row) { return {image_batch_rows(row)[0], Array::of(0.25f)}; }
Arrays images_and_window(int64_t row) { return {image_batch_rows(row)[0], array<int64_t>({1, row % 3, 2, 2})}; }
Arrays labels_and_shares(int64_t row) {
  return {array<int32_t>({static_cast<int32_t>(row % 4), 1, 3}), Array::of(0.25f)};
}

OP_EXAMPLE(MixupShare{.alpha = 0.5}, image_batch_rows);
OP_EXAMPLE(Mixup{}, images_and_shares);
OP_EXAMPLE(CutmixBox{}, image_batch_rows);
OP_EXAMPLE(Cutmix{}, images_and_window);
OP_EXAMPLE(CutmixShare{}, images_and_window);
OP_EXAMPLE(MixLabels{.num_classes = 4}, labels_and_shares);

TEST(BatchMix, MixesImagesAndLabelsWithTheSameRatio) {
  const Function both = [](Value x, Value labels) {
    const image::Mixed mixed = image::mixup(x, labels, {.num_classes = 3, .alpha = 0.5});
    return tuple(mixed.images, mixed.labels);
  };
  const Element made = eval_element(both, {batch(), array<int32_t>({0, 1, 2})}).value();
  const auto pixels = made.leaves[0].values<float>(), labels = made.leaves[1].values<float>();
  const float share = labels[0];
  EXPECT_EQ(labels[2], 1 - share);
  EXPECT_FLOAT_EQ(pixels[0], 200 * (1 - share));
  EXPECT_FLOAT_EQ(pixels[4], 100 * share);
  EXPECT_FLOAT_EQ(pixels[8], 200 * share + 100 * (1 - share));
}

TEST(BatchMix, ReplacesWindowsAndMixesLabelsByTheirArea) {
  const Function both = [](Value x, Value labels) {
    const image::Mixed mixed = image::cutmix(x, labels);
    return tuple(mixed.images, mixed.labels);
  };
  const Array one_hot = array<double>({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
  const Element made = eval_element(both, {batch(), one_hot}).value();
  const auto pixels = made.leaves[0].values<uint8_t>();
  const auto kept = std::count(pixels.begin(), pixels.begin() + 4, 0);
  EXPECT_EQ(std::count(pixels.begin(), pixels.begin() + 4, 200), 4 - kept);
  EXPECT_EQ(made.leaves[1].values<float>()[0], static_cast<float>(kept) / 4);
  EXPECT_EQ(made.leaves[1].values<float>()[2], 1 - static_cast<float>(kept) / 4);
}

TEST(BatchMix, DrawsNewNumbersForEachBatch) {
  const auto shares = for_elements(MixupShare{.alpha = 0.2}, {batch()}, 20);
  EXPECT_NE(shares[0], shares[1]);
  EXPECT_EQ(shares, for_elements(MixupShare{.alpha = 0.2}, {batch()}, 20));
}

TEST(BatchMix, RejectsInvalidBatchesLabelsAndParameters) {
  const auto mixup = [](MixParams params) {
    return Function([params](Value x, Value labels) { return image::mixup(x, labels, params).labels; });
  };
  EXPECT_EQ(complaint(mixup({}), {batch(), array<int32_t>({0, 1, 2})}),
            "integer labels require num_classes of at least 1, got 0");
  EXPECT_EQ(complaint(mixup({.num_classes = 2}), {batch(), array<int32_t>({0, 1, 2})}),
            "label 2 is out of range for 2 classes");
  EXPECT_EQ(complaint(mixup({.num_classes = 2}), {batch(), array<int32_t>({0, -1, 1})}),
            "label -1 is out of range for 2 classes");
  EXPECT_EQ(complaint(mixup({.num_classes = 3, .alpha = 0}), {batch(), array<int32_t>({0, 1, 2})}),
            "alpha must be above 0 and at most 1e+06, got 0");
  EXPECT_EQ(complaint([](Value x, Value labels) { return image::cutmix(x, labels).images; },
                      {array<uint8_t>({1, 2}), array<float>({1, 2})}),
            "expected a batch of images with 4 axes, got shape [2]");
  EXPECT_EQ(complaint([](Value x) { return Value(image::mixup(x, x).images); }, {array<std::string>({"a"})}),
            "expected a batch of numbers, got string");
}

}  // namespace
}  // namespace stoker
