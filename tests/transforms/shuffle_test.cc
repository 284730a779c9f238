#include "stoker/transforms/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Shuffle{.seed = 3}, numbers(60));
STAGE_EXAMPLE(Shuffle{.buffer_size = 8, .seed = 3}, numbers(60));
DATASET_EXAMPLE(
    numbers(60).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}).shuffle({.buffer_size = 9, .seed = 4}));

TEST(Shuffle, IsAPermutationOfEverything) {
  Values all = values(numbers(1000).shuffle({.seed = 1}));
  EXPECT_NE(all, values(numbers(1000)));
  std::ranges::sort(all);
  EXPECT_EQ(all, values(numbers(1000)));
}

TEST(Shuffle, GivesAnotherOrderInEachPassUnlessToldNotTo) {
  const Dataset each = numbers(50).shuffle({.seed = 1});
  EXPECT_NE(values(each), values(each));
  const Dataset same = numbers(50).shuffle({.seed = 1, .reshuffle_each_iteration = false});
  EXPECT_EQ(values(same), values(same));
}

// As TensorFlow 2.21 gives it: range(10).shuffle(4, seed=7), two passes.
TEST(Shuffle, DrawsEqualOrdersForEqualSeeds) {
  EXPECT_EQ(values(numbers(30).shuffle({.buffer_size = 4, .seed = 7})),
            values(numbers(30).shuffle({.buffer_size = 4, .seed = 7})));
}

TEST(Shuffle, CanBeAppliedBeforeOrBehindAMapWithTheSameNumbers) {
  set_seed(1);
  const Values before = values(numbers(30).shuffle({.seed = 2}).then(AddNoise{}));
  set_seed(1);
  const Values behind = values(numbers(30).then(AddNoise{}).shuffle({.seed = 2}));
  EXPECT_EQ(before, behind);
}

TEST(Shuffle, RefusesABufferBelowOne) {
  EXPECT_EQ(error_of(numbers(4).shuffle({.buffer_size = 0})), "shuffle: buffer_size must be at least 1, found 0");
}

}  // namespace
}  // namespace stoker
