#include "stoker/runtime/slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace stoker {
namespace {

constexpr int64_t kRows = 4, kWidth = 3;
const std::vector<int64_t> kDims{kWidth};

TEST(Slab, ReturnsTheRowsOfOneBlock) {
  Slab slab(kRows);
  std::optional<Array> all = slab.block(0, 0, kRows, kDims, DType::kInt32);
  std::optional<Array> last = slab.block(0, 3, 1, kDims, DType::kInt32);
  ASSERT_TRUE(all && last);
  EXPECT_EQ(shape_text(all->shape()), "[4, 3]");
  EXPECT_EQ(shape_text(last->shape()), "[1, 3]");
  EXPECT_EQ(static_cast<const int32_t*>(last->raw()), static_cast<const int32_t*>(all->raw()) + 3 * kWidth);
}

TEST(Slab, HasSeparateMemoryForEachComponent) {
  Slab slab(kRows);
  const std::optional<Array> second = slab.block(1, 0, 1, {}, DType::kFloat32);
  const std::optional<Array> first = slab.block(0, 0, 1, kDims, DType::kUint8);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->raw(), second->raw());
  EXPECT_EQ(second->type(), DType::kFloat32);
}

TEST(Slab, ReturnsNothingForAnotherShapeOrTypeThanTheFirst) {
  Slab slab(kRows);
  ASSERT_TRUE(slab.block(0, 0, 1, kDims, DType::kInt32));
  EXPECT_FALSE(slab.block(0, 1, 1, kDims, DType::kInt64));
  EXPECT_FALSE(slab.block(0, 1, 1, std::vector<int64_t>{kWidth + 1}, DType::kInt32));
  EXPECT_TRUE(slab.block(0, 1, 1, kDims, DType::kInt32));
}

TEST(Slab, ReturnsNothingForByteStringsAndBeyondItsLastRow) {
  Slab slab(kRows);
  EXPECT_FALSE(slab.block(0, 0, 1, {}, DType::kBytes));
  EXPECT_FALSE(slab.block(0, kRows, 1, kDims, DType::kInt32));
  EXPECT_FALSE(slab.block(0, kRows - 1, 2, kDims, DType::kInt32));
}

TEST(Slab, LetsSeveralThreadsWriteTheirOwnRows) {
  Slab slab(kRows);
  std::vector<std::thread> writers;
  for (int32_t row = 0; row < kRows; ++row)
    writers.emplace_back([&slab, row] {
      Array own = slab.block(0, row, 1, kDims, DType::kInt32).value();
      own.isolate(Buffer::Access::kWrite);  // as Context::output() does
      std::ranges::fill(own.mutable_values<int32_t>(), row);
    });
  for (std::thread& writer : writers) writer.join();
  const Array all = slab.block(0, 0, kRows, kDims, DType::kInt32).value();
  const auto values = all.values<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(values.begin(), values.end()),
            (std::vector<int32_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

}  // namespace
}  // namespace stoker
