#include "stoker/image/crop.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

Array numbered(std::vector<int64_t> dims) {
  Array array = Array::make(dims, DType::kUint8).value();
  uint8_t next = 0;
  for (uint8_t& value : array.mutable_values<uint8_t>()) value = ++next;
  return array;
}

std::vector<uint8_t> window(const Array& from, CropBox box) {
  Array to = Array::make({box.height, box.width, from.dim(2)}, DType::kUint8).value();
  take_window(image_view(from), box, image_view(to));
  const auto values = to.values<uint8_t>();
  return {values.begin(), values.end()};
}

using Values = std::vector<uint8_t>;

TEST(Crop, IsAViewOfTheRowsInTheBox) {
  const Array from = numbered({3, 4, 1});
  const ImageView view = cropped(image_view(from), {1, 2, 2, 2});
  EXPECT_EQ(view.row<uint8_t>(0)[0], 7);
  EXPECT_EQ(view.row<uint8_t>(1)[1], 12);
  EXPECT_EQ(view.row_size(), 2);
}

TEST(Crop, IsBlackOutsideTheImage) {
  const Array from = numbered({2, 3, 1});
  EXPECT_EQ(window(from, {0, 1, 2, 2}), (Values{2, 3, 5, 6}));
  EXPECT_EQ(window(from, {-1, -1, 2, 3}), (Values{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(window(from, {1, 2, 2, 2}), (Values{6, 0, 0, 0}));
  EXPECT_EQ(window(from, {5, 0, 1, 3}), (Values{0, 0, 0}));
  EXPECT_EQ(window(from, {0, -9, 1, 3}), (Values{0, 0, 0}));
  EXPECT_EQ(window(from, {0, 9, 1, 2}), (Values{0, 0}));
}

TEST(Crop, FindsTheCenterAsTensorflowAndTorchvisionDo) {
  EXPECT_EQ(central_box(7, 10, 0.5), (CropBox{1, 2, 5, 6}));
  EXPECT_EQ(central_box(7, 10, 1.0), (CropBox{0, 0, 7, 10}));
  // Python's round() returns 0 for 0.5 and 2 for 1.5.
  EXPECT_EQ(center_box(5, 7, 4, 4), (CropBox{0, 2, 4, 4}));
  EXPECT_EQ(center_box(3, 9, 6, 4), (CropBox{-1, 2, 6, 4}));
  EXPECT_EQ(crop_or_pad_box(5, 4, 2, 7), (CropBox{1, -1, 2, 7}));
}

TEST(Crop, DrawsWindowsOfTheRequestedAreaAndRatio) {
  Rng rng(1, 2, 3, 4);
  double least = 1, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const CropBox box = draw_resized_crop(rng, 300, 500, {0.08, 1}, {0.75, 4.0 / 3});
    ASSERT_TRUE(box.top >= 0 && box.left >= 0 && box.top + box.height <= 300 && box.left + box.width <= 500);
    const double share = static_cast<double>(box.height * box.width) / (300 * 500);
    const double ratio = static_cast<double>(box.width) / static_cast<double>(box.height);
    EXPECT_TRUE(ratio > 0.74 && ratio < 1.35) << ratio;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_NEAR(least, 0.08, 0.01);
  EXPECT_NEAR(most, 0.7, 0.1);  // in an image of 3 : 5, a window of 4 : 3 has at most 0.8
}

TEST(Crop, DrawsTheCenterIfNoWindowFits) {
  Rng rng(1, 2, 3, 4);
  EXPECT_EQ(draw_resized_crop(rng, 100, 10, {1, 1}, {0.75, 4.0 / 3}), (CropBox{43, 0, 13, 10}));
  EXPECT_EQ(draw_resized_crop(rng, 10, 100, {1, 1}, {0.75, 4.0 / 3}), (CropBox{0, 43, 10, 13}));
  EXPECT_EQ(draw_resized_crop(rng, 1, 1, {1, 1}, {5, 6}), (CropBox{0, 0, 1, 1}));
}

TEST(Crop, CopiesPartsOfArraysOfAnyRank) {
  const Array from = numbered({2, 3, 4});
  Array to = Array::make({1, 2, 2}, DType::kUint8).value();
  take_part(from, std::vector<int64_t>{1, 1, 2}, to);
  EXPECT_EQ(to, Array::from(Values{19, 20, 23, 24}).reshaped(std::vector<int64_t>{1, 2, 2}));
  Array rows = Array::make({1, 3, 4}, DType::kUint8).value();
  take_part(from, std::vector<int64_t>{1, 0, 0}, rows);
  EXPECT_EQ(rows, from.rows(1, 1));
}

}  // namespace
}  // namespace stoker
