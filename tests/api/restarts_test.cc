#include "stoker/api/restarts.h"

#include <gtest/gtest.h>

#include "support/gate.h"
#include "support/support.h"

namespace stoker {
namespace {

// Takes one batch and drops the loader, as `next(iter(ds))` does.
void peek(const Dataset& ds) {
  Loader loader(ds, {}, {"train.cc", 17});
  EXPECT_TRUE(loader.next());
}

TEST(Restarts, CountIteratorsDroppedOneAfterTheOther) {
  Restarts restarts;
  for (int i = 0; i < 4; ++i) restarts.note(1, false, 0.5);
  EXPECT_EQ(restarts.row().iterators, 4);
  EXPECT_EQ(restarts.row().start_seconds, 0.5);
  restarts.note(2, false, 0.5);
  EXPECT_EQ(restarts.row().iterators, 0) << "one iterator delivered two batches";
  restarts.note(1, false, 0.5);
  restarts.note(1, true, 0.5);
  EXPECT_EQ(restarts.row().iterators, 0) << "one iterator reached the end";
}

TEST(Restarts, ReachesReturnsTrueOnce) {
  Restarts restarts;
  restarts.note(0, false, 0);
  EXPECT_FALSE(restarts.reaches(2));
  restarts.note(1, false, 0);
  EXPECT_TRUE(restarts.reaches(2));
  EXPECT_FALSE(restarts.reaches(2));
}

TEST(Restarts, AreCountedPerDataset) {
  const Dataset ds = numbers(100);
  const Dataset other = numbers(100);
  for (int i = 0; i < 3; ++i) peek(ds);
  EXPECT_EQ(Restarts::of(*ds.node())->row().iterators, 3);
  EXPECT_EQ(Restarts::of(*other.node())->row().iterators, 0);
}

TEST(Restarts, CountEpochsOfOneLoader) {
  Loader loader(numbers(100));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(loader.next());
    loader.begin_epoch();
  }
  EXPECT_EQ(loader.restarts()->row().iterators, 3);
  for (auto& element : loader) EXPECT_EQ(element.leaves.size(), 1u);
  loader.begin_epoch();
  EXPECT_EQ(loader.restarts()->row().iterators, 0);
}

TEST(Restarts, AreReportedWithTheirLineAfterTwenty) {
  Messages messages;
  const Dataset ds = numbers(100);
  for (int i = 0; i < 21; ++i) peek(ds);
  const std::string text = messages.with("iterators of one dataset");
  EXPECT_NE(text.find("20 iterators"), std::string::npos) << text;
  EXPECT_NE(text.find("train.cc:17"), std::string::npos) << text;
}

}  // namespace
}  // namespace stoker
