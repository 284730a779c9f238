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

TEST(Repeat, OfAnEmptyLineEndsAfterOnePass) {
  const int64_t many = int64_t{1} << 40;
  EXPECT_EQ(values(numbers(0).shuffle({.buffer_size = 5}).repeat({.count = many})), Values{});
  EXPECT_EQ(values(numbers(9).shuffle({.buffer_size = 5}).take({.count = 0}).repeat({.count = many})), Values{});
}

// The log for checkpoints stays short, and its pace does not overflow.
TEST(Repeat, RunsThroughManyShortPasses) {
  EXPECT_EQ(values(numbers(1).shuffle({.buffer_size = 2}).repeat({.count = 100'000})).size(), 100'000u);
}

TEST(Repeat, IsNamedOnceByExplain) {
  const Dataset lines = Dataset::from_generator(
      {.generator = [] { return [] { return Result<std::optional<Element>>(std::optional<Element>()); }; }});
  for (const Dataset& dataset : {lines.repeat({.count = 2}), lines.cache({})}) {
    const std::string text = dataset.shuffle({.buffer_size = 9}).explain().value();
    const std::string name = dataset.node()->name;
    EXPECT_EQ(text.find("→ \n"), std::string::npos) << text;
    EXPECT_EQ(text.find("positions, before elements are loaded"), std::string::npos) << text;
    EXPECT_NE(text.find("→ " + name), std::string::npos) << text;
  }
}

TEST(Repeat, ShufflesEachPassDifferently) {
  const Values all = values(numbers(20).shuffle({.seed = 5}).repeat({.count = 2}));
  EXPECT_NE(Values(all.begin(), all.begin() + 20), Values(all.begin() + 20, all.end()));
}

}  // namespace
}  // namespace stoker
