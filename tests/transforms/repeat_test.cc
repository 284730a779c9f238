#include "stoker/transforms/repeat.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Repeat{.count = 3}, numbers(10));
DATASET_EXAMPLE(numbers(10).batch({.batch_size = 3}).repeat({.count = 3}));
DATASET_EXAMPLE(numbers(10).shuffle({.buffer_size = 4, .seed = 1}).repeat({.count = 3}));

TEST(Repeat, YieldsTheInputAgain) {
  EXPECT_EQ(values(numbers(2).repeat({.count = 3})), (Values{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(values(numbers(3).batch({.batch_size = 2}).repeat({.count = 2})), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values(numbers(2).repeat({.count = 0})), Values{});
}

TEST(Repeat, EndsWhenThereIsNothingToRepeat) {
  EXPECT_EQ(values(numbers(0).repeat({})), Values{});
  EXPECT_EQ(values(numbers(3).filter({.predicate = [](int64_t) { return false; }}).repeat({})), Values{});
}

TEST(Repeat, ShufflesEachPassDifferently) {
  const Values all = values(numbers(20).shuffle({.seed = 5}).repeat({.count = 2}));
  EXPECT_NE(Values(all.begin(), all.begin() + 20), Values(all.begin() + 20, all.end()));
}

}  // namespace
}  // namespace stoker
