#include "stoker/runtime/output_errors.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// A run of failed rows.
Run failing(const std::vector<Error>& errors) {
  RunBuilder rows;
  for (const Error& error : errors) rows.add_failure(error, Origin{}, false);
  return rows.take();
}

const Error kOrdinary = Error::invalid("of an element");
Error extra() { return Error::corrupt("the input has changed").set_extra(); }
Error last() { return Error::corrupt("the network is down").set_last(); }

TEST(OutputErrors, CountsExtraErrorsInARangeOfRows) {
  OutputErrors errors;
  errors.note(failing({kOrdinary, extra(), extra()}), 10);
  errors.note(failing({extra()}), 20);
  EXPECT_EQ(errors.extras_in(0, 11), 0);
  EXPECT_EQ(errors.extras_in(11, 12), 1);
  EXPECT_EQ(errors.extras_in(0, 20), 2);
  EXPECT_EQ(errors.extras_in(12, 21), 2);
}

TEST(OutputErrors, ForgetsExtraErrorsBeforeACursor) {
  OutputErrors errors;
  errors.note(failing({extra(), extra(), extra()}), 0);
  errors.prune(2);
  EXPECT_EQ(errors.extras_in(0, 3), 1);
}

TEST(OutputErrors, HasTheFirstRowThatEndsTheInput) {
  OutputErrors errors;
  EXPECT_FALSE(errors.has_ended_before(9));
  errors.note(failing({kOrdinary, last(), last()}), 5);
  EXPECT_FALSE(errors.has_ended_before(6));
  EXPECT_TRUE(errors.has_ended_before(7));
}

TEST(OutputErrors, AnExtraErrorDoesNotEndTheInput) {
  OutputErrors errors;
  errors.note(failing({last().set_extra()}), 0);
  EXPECT_FALSE(errors.has_ended_before(9));
}

TEST(UnexpectedErrors, AreExtraErrorsAndEndsThatTheSavedIteratorDidNotReturn) {
  EXPECT_FALSE(is_unexpected(kOrdinary, false));
  EXPECT_TRUE(is_unexpected(extra(), true));
  EXPECT_TRUE(is_unexpected(last(), false));
  EXPECT_FALSE(is_unexpected(last(), true));
}

}  // namespace
}  // namespace stoker
