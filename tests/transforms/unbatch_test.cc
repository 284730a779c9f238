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

// One element of this many rows without values, which take no memory.
Dataset rows_without_values(int64_t rows) {
  return Dataset::from_tensors({.tensors = Element(*Array::make({rows, 0}, DType::kUint8))});
}

TEST(Unbatch, DeliversAllRowsOfAnElementWithMoreRowsThanARunCanHave) {
  constexpr int64_t kBatch = int64_t{1} << 30;
  for (const int64_t batches : {2, 4}) {
    Sizes expected(static_cast<size_t>(batches), kBatch);
    expected.push_back(5);
    const Dataset rows = rows_without_values(batches * kBatch + 5).unbatch({});
    EXPECT_EQ(sizes(rows.batch({.batch_size = kBatch})), expected);
  }
}

TEST(Unbatch, ContinuesInsideSuchAnElementAfterARestore) {
  constexpr int64_t kBatch = int64_t{1} << 30;
  const Dataset batches = rows_without_values(2 * kBatch + 5).unbatch({}).batch({.batch_size = kBatch});
  Loader loader(batches);
  ASSERT_TRUE(*loader.next());
  Loader resumed(batches);
  ASSERT_TRUE(resumed.restore(*loader.save()).ok());
  EXPECT_EQ(text_of_rest(resumed), text_of_rest(loader));
}

TEST(Unbatch, RejectsAnElementOfMoreRowsThanMemoryHasBytes) {
  const int64_t rows = int64_t{1} << 61;
  EXPECT_EQ(first_error(rows_without_values(rows).unbatch({})),
            "expected an element of at most 1099511627776 rows, got 2305843009213693952");
}

TEST(Unbatch, RejectsScalars) {
  EXPECT_EQ(error_of(numbers(3).unbatch({})), "unbatch: component 0 is a scalar, expected at least one axis");
}

TEST(Unbatch, RejectsSparseAndRaggedValues) {
  const Element three(Array::from<int64_t>({0, 2, 3}));
  const Element ragged = dict_of({{"values", three}, {"row_splits", three}});
  const Element sparse = dict_of({{"indices", three}, {"values", three}, {"dense_shape", three}});
  EXPECT_EQ(error_of(Dataset::from_tensors({.tensors = ragged}).unbatch({})),
            "unbatch: the element is ragged, expected arrays; convert it in a map first, with to_tensor()");
  EXPECT_EQ(error_of(Dataset::from_tensors({.tensors = tuple_of({three, sparse})}).unbatch({})),
            "unbatch: component '1' is sparse, expected arrays; convert it in a map first, with to_dense()");
}

TEST(Unbatch, RejectsComponentsWithDifferentNumbersOfRowsBeforeRunning) {
  const Element two_and_three =
      tuple_of({Element(Array::from<int32_t>({1, 2})), Element(Array::from<int32_t>({1, 2, 3}))});
  EXPECT_EQ(error_of(Dataset::from_tensors({.tensors = two_and_three}).unbatch({})),
            "unbatch: component 1 has 3 rows, but component 0 has 2");
}

}  // namespace
}  // namespace stoker
