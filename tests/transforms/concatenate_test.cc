#include "stoker/transforms/concatenate.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(numbers(20).concatenate({.dataset = numbers(15)}));
DATASET_EXAMPLE(
    numbers(20).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}).concatenate({.dataset = numbers(5)}));

TEST(Concatenate, YieldsOneDatasetAndThenTheOther) {
  EXPECT_EQ(values(numbers(2).concatenate({.dataset = numbers(3)})), (Values{0, 1, 0, 1, 2}));
}

TEST(Concatenate, OfTwoInfiniteDatasetsIsInfinite) {
  const Dataset ds = numbers(1).repeat({}).concatenate({.dataset = numbers(1).repeat({})});
  EXPECT_EQ(values(ds.take({.count = 3})), (Values{0, 0, 0}));
}

TEST(Concatenate, RejectsOtherTypes) {
  EXPECT_NE(error_of(numbers(2).concatenate({.dataset = numbers(3).batch({.batch_size = 2}).enumerate({})})), "");
}

}  // namespace
}  // namespace stoker
