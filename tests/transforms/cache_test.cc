#include "stoker/transforms/cache.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Cache{}, numbers(30));
DATASET_EXAMPLE(numbers(30).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}).cache({}).repeat({.count = 2}));

TEST(Cache, ComputesEachElementOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).map({.map_func = [calls](int64_t x) { return ++*calls, x; }}).cache({});
  EXPECT_EQ(values(ds), values(ds));
  EXPECT_EQ(*calls, 20);
}

TEST(Cache, KeepsWhatAPartialPassComputed) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).map({.map_func = [calls](int64_t x) { return ++*calls, x; }}).cache({});
  (void)values(ds.take({.count = 5}));
  (void)values(ds);
  EXPECT_EQ(*calls, 20);
}

TEST(Cache, ComputesEachElementOnceDownstreamOfAFilter) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).filter({.predicate = [calls](int64_t x) { return ++*calls, x % 2 == 0; }}).cache({});
  EXPECT_EQ(values(ds), values(ds));
  EXPECT_EQ(*calls, 20);
}

// Augmentation downstream of a cache: the cached elements stay the same, the drawn numbers differ in each pass.
TEST(Cache, DrawsNewRandomNumbersDownstreamInEachPass) {
  for (const bool list : {true, false}) {
    const Dataset kept =
        (list ? numbers(10) : numbers(10).filter({.predicate = [](int64_t) { return true; }})).cache({});
    const Values both = values(kept.then(AddNoise{}).repeat({.count = 2}));
    EXPECT_NE(Values(both.begin(), both.begin() + 10), Values(both.begin() + 10, both.end())) << list;
    const Values same = values(numbers(10).then(AddNoise{}).cache({}).repeat({.count = 2}));
    EXPECT_EQ(Values(same.begin(), same.begin() + 10), Values(same.begin() + 10, same.end()));
  }
}

TEST(Cache, LetsADownstreamShuffleContinueInTheNextEpoch) {
  const Dataset ds = numbers(30).cache({}).shuffle({.buffer_size = 30, .seed = 1}).repeat({.count = 2});
  const Values first = values(ds), second = values(ds);
  EXPECT_NE(Values(first.begin() + 30, first.end()), Values(second.begin(), second.begin() + 30));
}

}  // namespace
}  // namespace stoker
