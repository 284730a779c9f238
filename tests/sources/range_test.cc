#include "stoker/sources/range.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(Dataset::range({.start = 3, .stop = 40, .step = 4}));

TEST(Range, FollowsPythonsRules) {
  EXPECT_EQ(values(Dataset::range({.stop = 4})), (Values{0, 1, 2, 3}));
  EXPECT_EQ(values(Dataset::range({.start = 5, .stop = 1, .step = -2})), (Values{5, 3}));
  EXPECT_EQ(values(Dataset::range({.start = 5, .stop = 1})), Values{});
}

TEST(Range, WrapsInSmallIntegers) {
  EXPECT_EQ(values(Dataset::range({.start = 254, .stop = 258, .output_type = DType::kUint8})),
            (Values{254, 255, 0, 1}));
}

TEST(Range, RejectsAStepOfZeroAndStrings) {
  EXPECT_EQ(error_of(Dataset::range({.stop = 4, .step = 0})),
            "range: step is 0, expected a positive or negative number");
  EXPECT_NE(error_of(Dataset::range({.stop = 4, .output_type = DType::kBytes})), "");
}

TEST(Range, HasAnExactLengthAtTheLimitsOfInt64) {
  EXPECT_EQ(*Dataset::range({.start = 0, .stop = 10, .step = 3}).cardinality(), 4);
  EXPECT_EQ(*Dataset::range({.start = INT64_MAX - 2, .stop = INT64_MAX}).cardinality(), 2);
}

}  // namespace
}  // namespace stoker
