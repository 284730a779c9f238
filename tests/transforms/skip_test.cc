#include "stoker/transforms/skip.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Skip{.count = 3}, numbers(10));
DATASET_EXAMPLE(numbers(50).filter({.predicate = [](int64_t x) { return x % 2 == 1; }}).skip({.count = 9}));

TEST(Skip, SkipsTheFirstElements) {
  EXPECT_EQ(values(numbers(5).skip({.count = 3})), (Values{3, 4}));
  EXPECT_EQ(values(numbers(2).skip({.count = 3})), Values{});
  EXPECT_EQ(values(numbers(2).skip({.count = -1})), Values{});
}

}  // namespace
}  // namespace stoker
