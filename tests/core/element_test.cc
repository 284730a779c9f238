#include "stoker/core/element.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

Origin origin_of(int64_t position) {
  Origin origin;
  origin.position = position;
  return origin;
}

// What failed has no value, so its structure binds nobody.
TEST(Runs, TakesTheStructureOfTheFirstRowThatDidNotFail) {
  const Element pair = tuple_of({Element(Array::of<int64_t>(1)), Element(Array::of<int64_t>(2))});
  RunBuilder rows;
  rows.add(pair, origin_of(1));
  rows.add_failure(Error::corrupt("also bad"), origin_of(2), false);
  stoker::Run all = stoker::Run::failure(Error::corrupt("bad"), origin_of(0));
  all.append(rows.take());
  ASSERT_EQ(all.size, 3);
  ASSERT_EQ(all.failed.size(), 2u);
  EXPECT_EQ(all.failure_of(1), nullptr);
  EXPECT_EQ(all.element(1), pair);
}

}  // namespace
}  // namespace stoker
