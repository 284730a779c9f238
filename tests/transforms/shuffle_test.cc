#include "stoker/transforms/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Shuffle{.seed = 3}, numbers(60));
STAGE_EXAMPLE(Shuffle{.buffer_size = 8, .seed = 3}, numbers(60));
DATASET_EXAMPLE(
    numbers(60).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}).shuffle({.buffer_size = 9, .seed = 4}));

TEST(Shuffle, IsAPermutationOfAllElements) {
  Values all = values(numbers(1000).shuffle({.seed = 1}));
  EXPECT_NE(all, values(numbers(1000)));
  std::ranges::sort(all);
  EXPECT_EQ(all, values(numbers(1000)));
}

TEST(Shuffle, YieldsADifferentOrderInEachPassByDefault) {
  const Dataset each = numbers(50).shuffle({.seed = 1});
  EXPECT_NE(values(each), values(each));
  const Dataset same = numbers(50).shuffle({.seed = 1, .reshuffle_each_iteration = false});
  EXPECT_EQ(values(same), values(same));
}

// The output of TensorFlow 2.21: range(10).shuffle(4, seed=7), two passes.
TEST(Shuffle, DrawsEqualOrdersForEqualSeeds) {
  EXPECT_EQ(values(numbers(30).shuffle({.buffer_size = 4, .seed = 7})),
            values(numbers(30).shuffle({.buffer_size = 4, .seed = 7})));
}

TEST(Shuffle, DrawsTheSameOrderUpstreamAndDownstreamOfAMap) {
  set_seed(1);
  const Values before = values(numbers(30).shuffle({.seed = 2}).then(AddNoise{}));
  set_seed(1);
  const Values behind = values(numbers(30).then(AddNoise{}).shuffle({.seed = 2}));
  EXPECT_EQ(before, behind);
}

TEST(Shuffle, RejectsABufferBelowOne) {
  EXPECT_EQ(error_of(numbers(4).shuffle({.buffer_size = 0})), "shuffle: buffer_size must be at least 1, got 0");
}

// A function produced these rows and a filter passed them on, so they have no positions from which they could be
// recomputed one by one.
TEST(Shuffle, IsRestoredWithoutProducingARowTwice) {
  for (const int64_t buffer_size : {100, 1000, 4000}) {
    const int64_t rows = 14 * buffer_size;
    std::atomic<int64_t> calls = 0;
    const Dataset dataset = numbers(rows)
                                .map({[&](int64_t x) {
                                  ++calls;
                                  return x;
                                }})
                                .filter({.predicate = [](int64_t x) { return x >= 0; }})
                                .shuffle({.buffer_size = buffer_size, .seed = 1});
    const LoaderOptions one_epoch{.prefetch_next_epoch = false};
    Loader loader(dataset, one_epoch);
    EXPECT_EQ(text_of_rest(loader, 12 * buffer_size).size(), static_cast<size_t>(12 * buffer_size));
    const std::string saved = loader.save().value();
    const std::vector<std::string> wanted = text_of_rest(loader);
    EXPECT_EQ(calls, rows);
    calls = 0;
    Loader restored(dataset, one_epoch);
    ASSERT_TRUE(restored.restore(saved).ok());
    EXPECT_EQ(text_of_rest(restored), wanted);
    EXPECT_LE(calls, rows);
    EXPECT_GE(calls, 2 * buffer_size);
  }
}

}  // namespace
}  // namespace stoker
