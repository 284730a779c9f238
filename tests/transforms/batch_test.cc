#include "stoker/transforms/batch.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Batch{.batch_size = 7}, numbers(40));
STAGE_EXAMPLE(Batch{.batch_size = 7, .drop_remainder = true}, numbers(40).then(FailSome{}));

TEST(Batch, KeepsAShortLastBatchUnlessToldToDropIt) {
  EXPECT_EQ(sizes(numbers(5).batch({.batch_size = 2})), (Sizes{2, 2, 1}));
  EXPECT_EQ(sizes(numbers(5).batch({.batch_size = 2, .drop_remainder = true})), (Sizes{2, 2}));
}

TEST(Batch, StacksRowsOfAnyRank) {
  const Dataset ds = numbers(6).batch({.batch_size = 3}).batch({.batch_size = 2});
  const auto all = elements(ds);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(words_of(all[0].leaves[0].dims()), "[2, 3]");
}

TEST(Batch, LosesNothingButTheElementThatFailed) {
  const Dataset ds = numbers(8).then(FailSome{}).batch({.batch_size = 3});
  EXPECT_EQ(values_and_errors(ds), (Values{0, 1, 2, -1'000'000, 4, 5, 6, 7}));
}

TEST(Batch, NamesBothElementsOfUnequalShape) {
  const Dataset ds = numbers(4)
                         .map({.map_func =
                                   [](int64_t x) {
                                     return Array::from(std::vector<int64_t>(static_cast<size_t>(x == 2 ? 2 : 1), x));
                                   }})
                         .batch({.batch_size = 4});
  EXPECT_EQ(first_error(ds), "cannot stack elements: element 0 is int64[1] and element 2 is int64[2]");
}

TEST(Batch, RefusesASizeBelowOne) {
  EXPECT_EQ(error_of(numbers(4).batch({.batch_size = 0})), "batch: batch_size must be at least 1, found 0");
}

TEST(Batch, KnowsItsCardinality) {
  EXPECT_EQ(*numbers(5).batch({.batch_size = 2}).cardinality(), 3);
  EXPECT_EQ(*numbers(5).batch({.batch_size = 2, .drop_remainder = true}).cardinality(), 2);
}

}  // namespace
}  // namespace stoker
