#include "stoker/transforms/filter.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Filter{.predicate = [](int64_t x) { return x % 3 != 0; }}, numbers(40));

TEST(Filter, KeepsTheElementsForWhichThePredicateIsTrue) {
  EXPECT_EQ(values(numbers(7).filter({.predicate = [](int64_t x) { return x % 2 == 0; }})), (Values{0, 2, 4, 6}));
}

TEST(Filter, HasUnknownCardinality) {
  EXPECT_EQ(*numbers(0).filter({.predicate = [](int64_t) { return true; }}).cardinality(), kUnknown);
}

TEST(Filter, RejectsAPredicateThatReturnsANumber) {
  EXPECT_NE(first_error(numbers(3).filter({.predicate = [](int64_t x) { return x; }})).find("expected one bool"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
