#include "stoker/ops/resize.h"

#include "support/eval.h"

namespace stoker {
namespace {

Function resize_to(Resize params) {
  return [params](Value x) { return image::resize(x, params); };
}

Array picture(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<uint8_t>(i * 7));
  return Array::from(values).reshaped(dims);
}

TEST(Resize, GivesFloatsAsTensorflowDoes) {
  const Array out =
      *eval([](Value x) { return image::resize(x, {.height = 4, .width = 1}); }, {array<uint8_t>({1, 3}, {2, 1, 1})});
  EXPECT_EQ(out, array<float>({1, 1.5, 2.5, 3}, {4, 1, 1}));
}

TEST(Resize, GivesBytesAsPillowDoes) {
  const Array out = *eval(resize_to({.height = 3, .width = 2, .like = "pillow"}), {picture({8, 9, 3})});
  EXPECT_EQ(out.type(), DType::kUint8);
  EXPECT_EQ(words_of(out.dims()), "[3, 2, 3]");
}

TEST(Resize, KeepsTheTypeForNearest) {
  const Array out =
      *eval(resize_to({.height = 1, .width = 2, .method = "nearest"}), {array<int64_t>({1, 2, 3, 4}, {1, 4, 1})});
  EXPECT_EQ(out, array<int64_t>({2, 4}, {1, 2, 1}));
}

TEST(Resize, TakesABatchPictureByPicture) {
  const Array batch = picture({3, 5, 7, 3});
  const Array out = *eval(resize_to({.height = 4, .width = 4}), {batch});
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(out.row(i), *eval(resize_to({.height = 4, .width = 4}), {batch.row(i)}));
}

TEST(Resize, KeepsProportionsWhereAsked) {
  const Array out = *eval(resize_to({.height = 10, .width = 10, .preserve_aspect_ratio = true}), {picture({8, 20, 1})});
  EXPECT_EQ(words_of(out.dims()), "[4, 10, 1]");
}

TEST(Resize, RefusesWhatIsNoPictureOrNoSize) {
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {picture({4, 4})}),
            "a picture has 3 dims and a batch of pictures 4, found shape [4, 4]");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {picture({0, 4, 3})}),
            "a picture without pixels cannot be resized, found shape [0, 4, 3]");
  EXPECT_EQ(complaint(resize_to({.height = 0, .width = 2}), {picture({4, 4, 1})}), "size is at least 1x1, found 0x2");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2}), {array<std::string>({"a"}, {1, 1, 1})}),
            "a picture has numbers, found string");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2, .method = "cubic"}), {picture({4, 4, 1})}),
            "method is bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic, found 'cubic'");
  EXPECT_EQ(complaint(resize_to({.height = 2, .width = 2, .like = "torch"}), {picture({4, 4, 1})}),
            "like is 'pillow' or empty, found 'torch'");
}

}  // namespace
}  // namespace stoker
