#include "stoker/ops/resize_window.h"

#include <limits>

#include "support/eval.h"

namespace stoker {
namespace {

TEST(ResizeWithPad, PutsThePictureInTheMiddle) {
  const Function pad = [](Value x) {
    return image::resize_with_pad(x, {.target_height = 2, .target_width = 4, .like = "pillow"});
  };
  EXPECT_EQ(*eval(pad, {array<uint8_t>({1, 2, 3, 4}, {2, 2, 1})}), array<uint8_t>({0, 1, 2, 0, 0, 3, 4, 0}, {2, 4, 1}));
  EXPECT_EQ(eval(pad, {array<uint8_t>(std::vector<uint8_t>(48, 5), {2, 4, 6, 1})})->values<uint8_t>()[1], 5);
}

TEST(ResizeWithPad, RefusesSizesThatLeaveNothing) {
  const Array line = array<uint8_t>(std::vector<uint8_t>(100, 1), {100, 1, 1});
  EXPECT_EQ(
      complaint([](Value x) { return image::resize_with_pad(x, {.target_height = 5, .target_width = 5}); }, {line}),
      "a picture of 100x1 in its proportions has no pixel inside 5x5");
  EXPECT_NE(complaint(
                [](Value x) {
                  return image::resize_with_pad(
                      x, {.target_height = std::numeric_limits<int64_t>::max(), .target_width = 5});
                },
                {line}),
            "");
}

TEST(CropAndResizeOp, GivesOneWindowABox) {
  const Array pictures = array<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2, 1});
  const Array boxes = array<float>({0, 0, 1, 1, 0, 0, 0, 0}, {2, 4});
  const auto crop = [](int64_t height, int64_t width) {
    return Function([=](Value x, Value boxes, Value indices) {
      return image::crop_and_resize(x, boxes, indices, {.height = height, .width = width, .method = "nearest"});
    });
  };
  EXPECT_EQ(*eval(crop(1, 2), {pictures, boxes, array<int32_t>({1, 0})}), array<float>({7, 8, 1, 1}, {2, 1, 2, 1}));
  EXPECT_EQ(complaint(crop(1, 2), {pictures, boxes, array<int32_t>({1, 2})}), "box 1 is of picture 2, there are 2");
  EXPECT_EQ(complaint(crop(1, 2), {pictures, boxes, array<int32_t>({1})}), "there are 2 boxes and 1 box_indices");
  EXPECT_EQ(complaint(crop(1, 2), {pictures, array<float>({1, 2}), array<int32_t>({1})}),
            "boxes have shape [boxes, 4], found [2]");
}

}  // namespace
}  // namespace stoker
