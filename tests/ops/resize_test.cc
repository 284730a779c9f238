#include "stoker/ops/resize.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Function resize_to(Resize params) {
  return [params](Value x) { return image::resize(x, params); };
}

Array image(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<uint8_t>(i * 7));
  return Array::from(values).reshaped(dims);
}

OP_EXAMPLE(Resize{.height = 4, .width = 9}, image_rows);
OP_EXAMPLE(Resize{.height = 3, .width = 3, .like = "pillow"}, image_rows);

TEST(Resize, ReturnsFloatsLikeTensorFlow) {
  const Array out =
      *eval([](Value x) { return image::resize(x, {.height = 4, .width = 1}); }, {array<uint8_t>({1, 3}, {2, 1, 1})});
  EXPECT_EQ(out, array<float>({1, 1.5, 2.5, 3}, {4, 1, 1}));
}

TEST(Resize, ReturnsBytesLikePillow) {
  const Array out = *eval(resize_to({.height = 3, .width = 2, .like = "pillow"}), {image({8, 9, 3})});
  EXPECT_EQ(out.type(), DType::kUint8);
  EXPECT_EQ(shape_text(out.shape()), "[3, 2, 3]");
}

TEST(Resize, KeepsTheTypeForNearest) {
  const Array out =
      *eval(resize_to({.height = 1, .width = 2, .method = "nearest"}), {array<int64_t>({1, 2, 3, 4}, {1, 4, 1})});
  EXPECT_EQ(out, array<int64_t>({2, 4}, {1, 2, 1}));
}

TEST(Resize, ResizesEachImageOfABatch) {
  const Array batch = image({3, 5, 7, 3});
  const Array out = *eval(resize_to({.height = 4, .width = 4}), {batch});
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(out.row(i), *eval(resize_to({.height = 4, .width = 4}), {batch.row(i)}));
}

TEST(Resize, KeepsTheAspectRatioIfRequested) {
  const Array out = *eval(resize_to({.height = 10, .width = 10, .preserve_aspect_ratio = true}), {image({8, 20, 1})});
  EXPECT_EQ(shape_text(out.shape()), "[4, 10, 1]");
}

TEST(Resize, RejectsInvalidImagesAndSizes) {
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {image({4, 4})}),
            "expected an image of shape [height, width, channels] or a batch of images, got shape [4, 4]");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {image({0, 4, 3})}),
            "an image without pixels cannot be resized, got shape [0, 4, 3]");
  EXPECT_EQ(complaint(resize_to({.height = 0, .width = 2}), {image({4, 4, 1})}), "size must be at least 1x1, got 0x2");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {array<std::string>({"a"}, {1, 1, 1})}),
            "expected an image of numbers, got string");
  EXPECT_EQ(
      complaint(resize_to({.height = 2, .width = 2, .method = "cubic"}), {image({4, 4, 1})}),
      "method must be bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic, got 'cubic'");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2, .like = "torch"}), {image({4, 4, 1})}),
            "like must be '' or 'pillow', got 'torch'");
}

}  // namespace
}  // namespace stoker
