#include "stoker/transforms/stride.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Stride{.step = 3}, numbers(10));

TEST(Stride, KeepsEveryNthElementBeginningWithTheFirst) {
  EXPECT_EQ(values(numbers(10).stride({.step = 3})), (Values{0, 3, 6, 9}));
}

TEST(Stride, KeepsTheFirstOfAShortInput) { EXPECT_EQ(values(numbers(2).stride({.step = 3})), (Values{0})); }

}  // namespace
}  // namespace stoker
