#include "stoker/runtime/schedule.h"

#include <gtest/gtest.h>

#include "support/schedule_parts.h"
#include "support/support.h"

namespace stoker {
namespace {

TEST(Schedule, PullsTheLineWhileTheWindowHasSpace) {
  WithResources here({.workers = 2});
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, false);
  schedule.add(parts.instance());
  const Piece piece = schedule.pick(ThreadKind::kWorker, nullptr);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece.ticket, nullptr);
  EXPECT_EQ(schedule.running(), 1);
  EXPECT_FALSE(schedule.pick(ThreadKind::kWorker, nullptr)) << "one thread at a time pulls a line";
  schedule.end_pull(*piece.segment, ThreadKind::kWorker);
  schedule.end_piece();
  schedule.note_work(*piece.segment);
  EXPECT_EQ(schedule.running(), 0);
  EXPECT_TRUE(schedule.has_work());
  schedule.clear();
}

TEST(Schedule, PrefersTicketsToTheLine) {
  WithResources here({.workers = 2});
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, false);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  Ticket* const issued = segment.issue(segment.line->pull(1));
  ASSERT_NE(issued, nullptr);
  EXPECT_EQ(schedule.pick(ThreadKind::kWorker, nullptr).ticket, issued);
  EXPECT_EQ(issued->state, Ticket::State::kRunning);
  schedule.clear();
}

TEST(Schedule, FollowsThePathOfAWaitingConsumer) {
  WithResources here({.workers = 2});
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, false);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  const Piece line = schedule.pick(ThreadKind::kConsumer, &segment);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line.demand);
  EXPECT_FALSE(schedule.pick_demand(ThreadKind::kConsumer, segment)) << "its path is already running";
  schedule.clear();
}

TEST(Schedule, DropsSegmentsWithoutWork) {
  WithResources here({.workers = 2});
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, false);
  schedule.add(parts.instance());
  schedule.end_line(parts.segment());
  EXPECT_FALSE(schedule.has_work());
  EXPECT_FALSE(parts.segment().scheduled.listed_for_workers);
  EXPECT_TRUE(parts.flags.all_started);
  schedule.clear();
}

TEST(Schedule, StartsNothingThatWaitsOnAWorker) {
  WithResources here({.workers = 2});
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, false);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  ASSERT_NE(segment.issue(segment.line->pull(1)), nullptr);
  segment.plan.steps[0].meter->waits = true;
  EXPECT_EQ(schedule.pick(ThreadKind::kWorker, nullptr).ticket, nullptr);
  EXPECT_EQ(schedule.call_waiters(9), 1);
  EXPECT_NE(schedule.pick(ThreadKind::kWaiter, nullptr).ticket, nullptr);
  schedule.clear();
}

}  // namespace
}  // namespace stoker
