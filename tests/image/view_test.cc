#include "stoker/image/view.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(View, FindsTheImagesOfABatchAndTheirRows) {
  Array batch = Array::make({2, 3, 4, 1}, DType::kInt16).value();
  auto values = batch.mutable_values<int16_t>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i);
  const MutableImageView second = image_view(batch, 1);
  EXPECT_EQ(second.height, 3);
  EXPECT_EQ(second.row_size(), 4);
  EXPECT_EQ(second.stride, 8);
  EXPECT_EQ(*second.row<int16_t>(2), 12 + 8);
  const ImageView read_only = second;
  EXPECT_EQ(read_only.row<int16_t>(0)[3], 15);
}

}  // namespace
}  // namespace stoker
