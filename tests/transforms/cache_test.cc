#include "stoker/transforms/cache.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Cache{}, numbers(30));
DATASET_EXAMPLE(numbers(30).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}).cache({}).repeat({.count = 2}));

TEST(Cache, MakesEachElementOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).map({.map_func = [calls](int64_t x) { return ++*calls, x; }}).cache({});
  EXPECT_EQ(values(ds), values(ds));
  EXPECT_EQ(*calls, 20);
}

TEST(Cache, KeepsWhatAPartialPassMade) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).map({.map_func = [calls](int64_t x) { return ++*calls, x; }}).cache({});
  (void)values(ds.take({.count = 5}));
  (void)values(ds);
  EXPECT_EQ(*calls, 20);
}

TEST(Cache, MakesEachElementOnceBehindAFilterToo) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const Dataset ds = numbers(20).filter({.predicate = [calls](int64_t x) { return ++*calls, x % 2 == 0; }}).cache({});
  EXPECT_EQ(values(ds), values(ds));
  EXPECT_EQ(*calls, 20);
}

}  // namespace
}  // namespace stoker
