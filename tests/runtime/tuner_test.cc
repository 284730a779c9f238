#include "stoker/runtime/tuner.h"

#include <gtest/gtest.h>

#include "support/schedule_parts.h"
#include "support/support.h"

namespace stoker {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Tuner, DoublesAWindowThatWasFullAndRanEmpty) {
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, true);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  const size_t before = segment.tuning.capacity;
  segment.tuning.was_full = true;
  segment.note_empty();
  Tuner tuner;
  tuner.sample_and_tune(schedule, now_ns() + kSecond);
  EXPECT_EQ(segment.tuning.capacity, 2 * before);
  EXPECT_FALSE(segment.tuning.drained);
  schedule.clear();
}

TEST(Tuner, ShrinksAWindowTenSecondsAfterItLastRanEmpty) {
  SegmentsOf parts(numbers(1000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, true);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  segment.tuning.capacity = 4;
  Runs dropped;
  for (int i = 0; i < 3; ++i) {
    Ticket& ticket = *segment.issue(segment.line->pull(1));
    segment.window.start(ticket);
    segment.window.finish(ticket, dropped);
  }
  Tuner tuner;
  tuner.sample_and_tune(schedule, segment.tuning.drained_ns + 9 * kSecond);
  EXPECT_EQ(segment.tuning.capacity, 4u);
  tuner.sample_and_tune(schedule, segment.tuning.drained_ns + 11 * kSecond);
  EXPECT_EQ(segment.tuning.capacity, 3u);
  schedule.clear();
}

TEST(Tuner, KeepsWhatPrefetchRequests) {
  SegmentsOf parts(numbers(100'000).prefetch(5000));
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, true);
  schedule.add(parts.instance());
  Segment& segment = parts.segment();
  EXPECT_EQ(segment.tuning.capacity, 5000u);
  segment.tuning.was_full = segment.tuning.drained = true;
  Tuner tuner;
  tuner.sample_and_tune(schedule, now_ns() + kSecond);
  EXPECT_EQ(segment.tuning.capacity, 5000u);
  EXPECT_EQ(segment.capacity_now(), 5000u);
  schedule.clear();
}

TEST(Tuner, LooksAtManySegmentsInTurn) {
  SegmentsOf parts(numbers(1000));
  for (int i = 1; i < 200; ++i) parts.add_segment();
  const EngineLock lock(parts.mutex());
  Schedule schedule(parts.flags, true);
  schedule.add(parts.instance());
  Tuner tuner;
  std::set<const Segment*> seen;
  const auto look = [&]() STOKER_REQUIRES(engine_lock) {
    for (Segment* segment : schedule.segments()) segment->tuning.least_done = SIZE_MAX;
    tuner.sample_and_tune(schedule, 0);
    size_t sampled = 0;
    for (const Segment* segment : schedule.segments()) {
      if (segment->tuning.least_done == SIZE_MAX) continue;
      seen.insert(segment);
      ++sampled;
    }
    return sampled;
  };
  EXPECT_EQ(look(), 128u);
  EXPECT_EQ(look(), 128u);
  EXPECT_EQ(seen.size(), 200u);
  schedule.clear();
}

}  // namespace
}  // namespace stoker
