#include "stoker/runtime/failure_log.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

std::shared_ptr<const Plan> plan_of(const Dataset& dataset) {
  Meters meters;
  return lower(dataset.node(), meters).value();
}

// Adds the failure of an element of `range`.
Result<void> add_failure(FailureLog& log, int64_t position, Error error = Error::invalid("bad")) {
  Failure failure{0, std::move(error)};
  return log.add(failure, Origin{.position = position});
}

TEST(FailureLog, ReturnsErrorsThatAreNotSkipped) {
  const auto plan = plan_of(numbers(9));
  FailureLog raises(*plan, {.skip = false});
  EXPECT_EQ(add_failure(raises, 4).error().message(), "bad");
  EXPECT_EQ(raises.skipped_count(), 0);
  FailureLog skips(*plan, {.skip = true});
  EXPECT_EQ(add_failure(skips, 4, Error::cancelled()).error().code(), Code::kCancelled);
  EXPECT_EQ(add_failure(skips, 4, Error::invalid("wrong input").set_unskippable()).error().message(), "wrong input");
  EXPECT_EQ(skips.skipped_count(), 0);
}

TEST(FailureLog, ListsTheFirstThousandSkippedElements) {
  const auto plan = plan_of(numbers(9));
  FailureLog log(*plan, {.skip = true});
  for (int64_t i = 0; i < 1001; ++i) EXPECT_TRUE(add_failure(log, i).ok());
  EXPECT_EQ(log.skipped_count(), 1001);
  ASSERT_EQ(log.skipped().size(), 1000u);
  EXPECT_EQ(log.skipped()[7].origin, "7");
}

TEST(FailureLog, JudgesAfterOneHundredElementsAndAtTheEnd) {
  const auto plan = plan_of(numbers(9));
  FailureLog log(*plan, {.skip = true, .at_most = 0.5});
  for (int64_t i = 0; i < 99; ++i) EXPECT_TRUE(add_failure(log, i).ok());
  EXPECT_NE(add_failure(log, 99).error().message().find("100 of 100 elements failed"), std::string::npos);
  EXPECT_TRUE(log.has_given_up());
  FailureLog short_pass(*plan, {.skip = true, .at_most = 0.5});
  short_pass.add_delivered(2);
  for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(add_failure(short_pass, i).ok());
  EXPECT_NE(short_pass.judge_end().error().message().find("3 of 5 elements failed"), std::string::npos);
}

TEST(FailureLog, CountsTheElementsOfAFailedBatch) {
  const auto plan = plan_of(numbers(9));
  FailureLog log(*plan, {.skip = true, .at_most = 0.5});
  log.add_delivered(8);
  Failure failure{0, Error::invalid("bad")};
  EXPECT_TRUE(log.add(failure, Origin{.elements = 8}).ok());
  EXPECT_TRUE(log.judge_end().ok());
  Json saved = Json::dict();
  log.save(saved);
  EXPECT_EQ(saved.text(), R"({"delivered":1,"elements":8,"skipped":1,"skipped_elements":8})");
  FailureLog restored(*plan, {.skip = true, .at_most = 0.4});
  restored.restore(saved);
  EXPECT_NE(restored.judge_end().error().message().find("8 elements failed"), std::string::npos);
}

TEST(FailureLog, ContinuesItsCountsAfterARestore) {
  const auto plan = plan_of(numbers(9));
  FailureLog log(*plan, {.skip = true, .at_most = 0.4});
  log.add_delivered(2);
  EXPECT_TRUE(add_failure(log, 0).ok());
  EXPECT_TRUE(add_failure(log, 1).ok());
  Json saved = Json::dict();
  log.save(saved);
  EXPECT_EQ(saved.text(), R"({"delivered":1,"elements":2,"skipped":2})");
  FailureLog restored(*plan, {.skip = true, .at_most = 0.4});
  restored.restore(saved);
  EXPECT_FALSE(restored.has_given_up());
  EXPECT_FALSE(restored.judge_end().ok());
  Json saved_after = Json::dict();
  restored.save(saved_after);
  FailureLog ended(*plan, {.skip = true, .at_most = 0.4});
  ended.restore(saved_after);
  EXPECT_TRUE(ended.has_given_up());
  FailureLog higher_limit(*plan, {.skip = true, .at_most = 0.6});
  higher_limit.restore(saved_after);
  EXPECT_FALSE(higher_limit.has_given_up());
}

TEST(FailureLog, ReplacesDamagedCounts) {
  const auto plan = plan_of(numbers(9));
  FailureLog log(*plan, {.skip = true});
  Json damaged = Json::dict();
  damaged.set("delivered", int64_t{-5});
  damaged.set("elements", "many");
  damaged.set("skipped", INT64_MAX);
  log.restore(damaged);
  EXPECT_EQ(log.delivered(), 0);
  EXPECT_EQ(log.skipped_count(), int64_t{1} << 60);
}

}  // namespace
}  // namespace stoker
