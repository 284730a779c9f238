#include "stoker/transforms/take.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Take{.count = 3}, numbers(10));
DATASET_EXAMPLE(numbers(50).filter({.predicate = [](int64_t x) { return x % 2 == 1; }}).take({.count = 9}));

TEST(Take, EndsTheStreamAfterCountElements) { EXPECT_EQ(values(numbers(10).take({.count = 3})), (Values{0, 1, 2})); }

TEST(Take, PassesEverythingWhenTheSourceIsShorter) {
  EXPECT_EQ(values(numbers(2).take({.count = 3})), (Values{0, 1}));
  EXPECT_EQ(values(numbers(2).take({.count = -1})), (Values{0, 1}));
}

}  // namespace
}  // namespace stoker
