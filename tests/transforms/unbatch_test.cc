#include "stoker/transforms/unbatch.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Unbatch{}, numbers(40).batch({.batch_size = 7}));

TEST(Unbatch, UndoesBatch) {
  EXPECT_EQ(values(numbers(7).batch({.batch_size = 3}).unbatch({})), (Values{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Unbatch, HasAKnownLengthIfAllBatchesHaveTheSameNumberOfRows) {
  EXPECT_EQ(*numbers(7).batch({.batch_size = 3, .drop_remainder = true}).unbatch({}).cardinality(), 6);
  EXPECT_EQ(*numbers(7).batch({.batch_size = 3}).unbatch({}).cardinality(), kUnknown);
  EXPECT_EQ(*numbers(7).repeat({}).batch({.batch_size = 3}).unbatch({}).cardinality(), kInfinite);
  const Element rows = Element(*Array::make({4, 2}, DType::kFloat32)), none = Element(*Array::make({0}, DType::kInt8));
  EXPECT_EQ(*Dataset::from_tensors({.tensors = rows}).repeat({.count = 5}).unbatch({}).cardinality(), 20);
  EXPECT_EQ(*Dataset::from_tensors({.tensors = none}).unbatch({}).cardinality(), kUnknown);
  EXPECT_EQ(*numbers(0).batch({.batch_size = 3}).unbatch({}).cardinality(), 0);
  const int64_t huge = int64_t{1} << 61;
  EXPECT_EQ(*Dataset::from_tensors({.tensors = rows}).repeat({.count = huge}).unbatch({}).cardinality(), kUnknown);
}

TEST(Unbatch, RejectsScalars) {
  EXPECT_EQ(error_of(numbers(3).unbatch({})), "unbatch: component 0 is a scalar, expected at least one axis");
}

TEST(Unbatch, RejectsComponentsWithDifferentNumbersOfRowsBeforeRunning) {
  const Element two_and_three =
      tuple_of({Element(Array::from<int32_t>({1, 2})), Element(Array::from<int32_t>({1, 2, 3}))});
  EXPECT_EQ(error_of(Dataset::from_tensors({.tensors = two_and_three}).unbatch({})),
            "unbatch: component 1 has 3 rows, but component 0 has 2");
}

}  // namespace
}  // namespace stoker
