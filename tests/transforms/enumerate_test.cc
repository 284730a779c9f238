#include "stoker/transforms/enumerate.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Enumerate{.start = 5}, numbers(20));
DATASET_EXAMPLE(numbers(50).filter({.predicate = [](int64_t x) { return x % 2 == 1; }}).enumerate({}));

TEST(Enumerate, NumbersTheElements) {
  EXPECT_EQ(elements(numbers(3).enumerate({.start = 5}))[2].words(), "(0: 7, 1: 2)");
}

}  // namespace
}  // namespace stoker
