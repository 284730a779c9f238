#include "stoker/ops/resize_window.h"

#include <limits>

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

// Images, boxes, and the image of each box.
Arrays box_rows(int64_t row) {
  return {image_batch_rows(row)[0], array<float>({0, 0, 1, 1, 0.1f, 0.2f, 0.7f, 0.9f}, {2, 4}),
          array<int32_t>({static_cast<int32_t>(row % 3), 1})};
}

OP_EXAMPLE(ResizeWithPad{.target_height = 5, .target_width = 5}, image_rows);
OP_EXAMPLE(CropAndResize{.height = 3, .width = 2}, box_rows);

TEST(ResizeWithPad, CentersTheImage) {
  const Function pad = [](Value x) {
    return image::resize_with_pad(x, {.target_height = 2, .target_width = 4, .like = "pillow"});
  };
  EXPECT_EQ(*eval(pad, {array<uint8_t>({1, 2, 3, 4}, {2, 2, 1})}), array<uint8_t>({0, 1, 2, 0, 0, 3, 4, 0}, {2, 4, 1}));
  EXPECT_EQ(eval(pad, {array<uint8_t>(std::vector<uint8_t>(48, 5), {2, 4, 6, 1})})->values<uint8_t>()[1], 5);
}

TEST(ResizeWithPad, RejectsSizesWithoutPixels) {
  const Array line = array<uint8_t>(std::vector<uint8_t>(100, 1), {100, 1, 1});
  EXPECT_EQ(
      complaint([](Value x) { return image::resize_with_pad(x, {.target_height = 5, .target_width = 5}); }, {line}),
      "an image of 100x1 with its aspect ratio has no pixels in a result of 5x5");
  EXPECT_NE(complaint(
                [](Value x) {
                  return image::resize_with_pad(
                      x, {.target_height = std::numeric_limits<int64_t>::max(), .target_width = 5});
                },
                {line}),
            "");
}

TEST(CropAndResizeOp, ReturnsOneWindowPerBox) {
  const Array images = array<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2, 1});
  const Array boxes = array<float>({0, 0, 1, 1, 0, 0, 0, 0}, {2, 4});
  const auto crop = [](int64_t height, int64_t width) {
    return Function([=](Value x, Value boxes, Value indices) {
      return image::crop_and_resize(x, boxes, indices, {.height = height, .width = width, .method = "nearest"});
    });
  };
  EXPECT_EQ(*eval(crop(1, 2), {images, boxes, array<int32_t>({1, 0})}), array<float>({7, 8, 1, 1}, {2, 1, 2, 1}));
  EXPECT_EQ(complaint(crop(1, 2), {images, boxes, array<int32_t>({1, 2})}), "box_indices[1] is 2, expected 0 to 1");
  EXPECT_EQ(complaint(crop(1, 2), {images, boxes, array<int32_t>({1})}),
            "box_indices has 1 numbers, expected one for each of the 2 boxes");
  EXPECT_EQ(complaint(crop(1, 2), {images, array<float>({1, 2}), array<int32_t>({1})}),
            "boxes must have shape [boxes, 4], got [2]");
}

}  // namespace
}  // namespace stoker
