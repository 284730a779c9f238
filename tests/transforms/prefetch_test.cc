#include "stoker/transforms/prefetch.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Prefetch{.buffer_size = 4}, numbers(20));

TEST(Prefetch, DoesNotChangeTheElements) {
  EXPECT_EQ(values(numbers(5).prefetch({.buffer_size = 2})), values(numbers(5)));
}

TEST(Prefetch, RejectsASizeBelowMinusOne) {
  EXPECT_EQ(error_of(numbers(5).prefetch({.buffer_size = -2})), "prefetch: buffer_size must be -1 or more, got -2");
}

}  // namespace
}  // namespace stoker
