#include "stoker/ops/crop.h"

#include <set>

#include "support/elements.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array image(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<uint8_t>(i));
  return Array::from(values).reshaped(dims);
}

OP_EXAMPLE(CropToBoundingBox{.offset_height = 1, .offset_width = 2, .target_height = 3, .target_width = 4}, image_rows);
OP_EXAMPLE(PadToBoundingBox{.offset_height = 1, .offset_width = 2, .target_height = 9, .target_width = 9}, image_rows);
OP_EXAMPLE(CentralCrop{.central_fraction = 0.5}, image_rows);
OP_EXAMPLE(CenterCrop{.height = 3, .width = 8}, image_rows);
OP_EXAMPLE(ResizeWithCropOrPad{.target_height = 4, .target_width = 9}, image_rows);
OP_EXAMPLE(RandomCrop{.size = {3, 3, 3}}, image_rows);
OP_EXAMPLE(RandomResizedCrop{.height = 4, .width = 4}, image_rows);
OP_EXAMPLE(ResizeShorter{.size = 3}, image_rows);

TEST(Crops, CropImagesAndBatches) {
  const Function crop = [](Value x) {
    return image::crop_to_bounding_box(x,
                                       {.offset_height = 1, .offset_width = 0, .target_height = 1, .target_width = 2});
  };
  EXPECT_EQ(*eval(crop, {image({2, 3, 1})}), array<uint8_t>({3, 4}, {1, 2, 1}));
  EXPECT_EQ(*eval(crop, {image({2, 2, 2, 1})}), array<uint8_t>({2, 3, 6, 7}, {2, 1, 2, 1}));
  EXPECT_EQ(complaint(crop, {image({1, 3, 1})}), "a crop of 1x2 at 1, 0 does not fit an image of 1x3");
  EXPECT_EQ(complaint(crop, {image({2, 3})}),
            "expected an image of shape [height, width, channels] or a batch of images, got shape [2, 3]");
  EXPECT_EQ(complaint(crop, {array<std::string>({"a"}, {1, 1, 1})}), "expected an image of numbers, got string");
}

TEST(Crops, PadWithZeros) {
  const Function pad = [](Value x) {
    return image::pad_to_bounding_box(x,
                                      {.offset_height = 1, .offset_width = 1, .target_height = 2, .target_width = 3});
  };
  EXPECT_EQ(*eval(pad, {array<float>({5}, {1, 1, 1})}), array<float>({0, 0, 0, 0, 5, 0}, {2, 3, 1}));
  EXPECT_EQ(complaint(pad, {image({2, 1, 1})}), "an image of 2x1 at 1, 1 does not fit a result of 2x3");
}

TEST(Crops, RejectNegativeOffsetsAndNumbersThatAreTooLarge) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(complaint([](Value x) { return image::crop_to_bounding_box(x, {-1, 0, 1, 1}); }, {image({2, 2, 1})}),
            "offsets must be at least 0, got -1 and 0");
  EXPECT_NE(complaint([](Value x) { return image::crop_to_bounding_box(x, {kMost, 0, kMost, 1}); }, {image({2, 2, 1})}),
            "");
  EXPECT_NE(complaint([](Value x) { return image::pad_to_bounding_box(x, {0, 0, kMost, kMost}); }, {image({2, 2, 1})}),
            "");
  EXPECT_NE(complaint([](Value x) { return image::center_crop(x, {kMost, kMost}); }, {image({2, 2, 1})}), "");
  EXPECT_NE(complaint([](Value x) { return image::resize_shorter(x, {.size = kMost}); }, {image({2, 5, 1})}), "");
}

TEST(Crops, CropTheCenter) {
  EXPECT_EQ(*eval([](Value x) { return image::central_crop(x, {.central_fraction = 0.5}); }, {image({4, 4, 1})}),
            array<uint8_t>({5, 6, 9, 10}, {2, 2, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::center_crop(x, {.height = 1, .width = 2}); }, {image({3, 4, 1})}),
            array<uint8_t>({5, 6}, {1, 2, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::resize_with_crop_or_pad(x, {.target_height = 1, .target_width = 3}); },
                  {array<uint8_t>({1, 2, 3}, {3, 1, 1})}),
            array<uint8_t>({0, 2, 0}, {1, 3, 1}));
  EXPECT_EQ(complaint([](Value x) { return image::central_crop(x, {.central_fraction = 0}); }, {image({4, 4, 1})}),
            "central_fraction must be above 0 and at most 1, got 0");
}

TEST(Crops, AreDrawnFromAllPositions) {
  std::set<uint8_t> corners;
  for (const Array& made : for_elements(RandomCrop{.size = {2, 2, 1}}, {image({3, 4, 1})}, 200)) {
    const uint8_t first = made.values<uint8_t>()[0];
    EXPECT_EQ(made, array<uint8_t>({first, uint8_t(first + 1), uint8_t(first + 4), uint8_t(first + 5)}, {2, 2, 1}));
    corners.insert(first);
  }
  EXPECT_EQ(corners, (std::set<uint8_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(complaint([](Value x) { return image::random_crop(x, {.size = {4, 4, 1}}); }, {image({3, 4, 1})}),
            "a crop of shape [4, 4, 1] does not fit an array of shape [3, 4, 1]");
}

TEST(Crops, AreDrawnAndResizedInOneStep) {
  const Array from = image({30, 40, 3});
  const RandomResizedCrop op{.height = 5, .width = 6, .like = "pillow"};
  const Arrays made = for_elements(op, {from}, 20);
  std::set<int> firsts;
  for (const Array& one : made) {
    EXPECT_EQ(shape_text(one.shape()), "[5, 6, 3]");
    EXPECT_EQ(one.type(), DType::kUint8);
    firsts.insert(one.values<uint8_t>()[0]);
  }
  EXPECT_GT(firsts.size(), 10u);
  EXPECT_EQ(made, for_elements(op, {from}, 20));
  EXPECT_EQ(
      eval([](Value x) { return image::random_resized_crop(x, {.height = 2, .width = 2}); }, {image({3, 9, 9, 1})})
          .value()
          .type(),
      DType::kFloat32);
  EXPECT_EQ(
      complaint([](Value x) { return image::random_resized_crop(x, {.height = 2, .width = 2, .scale = {1}}); }, {from}),
      "scale must be two increasing numbers above 0, got [1.000000]");
  EXPECT_EQ(
      complaint([](Value x) { return image::random_resized_crop(x, {.height = 2, .width = 2}); }, {image({0, 4, 3})}),
      "an image without pixels cannot be resized, got shape [0, 4, 3]");
}

TEST(ResizeShorter, RoundsTheLongerSideDown) {
  const Function resize = [](Value x) { return image::resize_shorter(x, {.size = 4, .like = "pillow"}); };
  EXPECT_EQ(shape_text(eval(resize, {image({6, 10, 1})})->shape()), "[4, 6, 1]");
  EXPECT_EQ(shape_text(eval(resize, {image({11, 6, 1})})->shape()), "[7, 4, 1]");
  EXPECT_EQ(shape_text(eval(resize, {image({2, 2, 1})})->shape()), "[4, 4, 1]");
}

}  // namespace
}  // namespace stoker
