#include "stoker/prepare/progress.h"

#include <gtest/gtest.h>

#include <vector>

#include "stoker/prepare/option_names.h"

namespace stoker::prepare {
namespace {

TEST(Reporter, SendsTheFirstAndTheLastUpdateAndFewInBetween) {
  std::vector<Progress> updates;
  const OnProgress on_progress = [&](const Progress& now) { updates.push_back(now); };
  Reporter reporter(on_progress, {.phase = Phase::kWrite, .unit = Unit::kImages, .total = 10'000});
  for (int i = 0; i < 10'000; ++i) reporter.advance(1, 7);
  reporter.finish();
  EXPECT_EQ(updates.front().done, 0);
  EXPECT_EQ(updates.back().done, 10'000);
  EXPECT_EQ(updates.back().bytes, 70'000);
  EXPECT_LT(updates.size(), 1000u);
}

TEST(Reporter, CountsBytesIfTheyAreTheUnit) {
  Progress last;
  const OnProgress on_progress = [&](const Progress& now) { last = now; };
  Reporter reporter(on_progress, {.unit = Unit::kBytes, .total = 100});
  reporter.advance(3, 50);
  reporter.finish();
  EXPECT_EQ(last.done, 50);
  EXPECT_EQ(last.items, 3);
}

TEST(Reporter, WorksWithoutACallback) {
  const OnProgress none;
  Reporter reporter(none, {.total = 1});
  EXPECT_NO_THROW(reporter.advance(1, 1));
  EXPECT_NO_THROW(reporter.finish());
}

TEST(OptionName, IsAFieldOrAFlag) {
  EXPECT_EQ(option_name(OptionNames::kFields, "keep_bytes"), "keep_bytes");
  EXPECT_EQ(option_name(OptionNames::kFields, "on_error", "skip"), "on_error=skip");
  EXPECT_EQ(option_name(OptionNames::kFlags, "keep_bytes"), "--keep-bytes");
  EXPECT_EQ(option_name(OptionNames::kFlags, "on_error", "skip"), "--on-error skip");
}

}  // namespace
}  // namespace stoker::prepare
