#include "stoker/sources/counter.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(Dataset::counter({.start = 5, .step = 3}).take({.count = 20}));

TEST(Counter, CountsIndefinitely) {
  EXPECT_EQ(values(Dataset::counter({.start = 5, .step = -3}).take({.count = 4})), (Values{5, 2, -1, -4}));
  EXPECT_EQ(*Dataset::counter({}).cardinality(), kInfinite);
}

}  // namespace
}  // namespace stoker
