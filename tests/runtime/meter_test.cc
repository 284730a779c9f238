#include "stoker/runtime/meter.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

void add_calls(Meter& meter, int64_t calls, bool slept) {
  for (int64_t i = 0; i < calls; ++i) {
    meter.add_measured({}, {.cpu_ns = slept ? 0 : 1000, .voluntary_switches = slept}, 1000);
    meter.judge();
  }
}

TEST(Meter, OfReadsWaitsUntilManyCallsInARowDidNotSleep) {
  Meter meter;
  meter.reads = meter.waits = true;
  add_calls(meter, Meter::kAwake - 1, false);
  EXPECT_TRUE(meter.waits);
  add_calls(meter, 1, false);
  EXPECT_FALSE(meter.waits);
  add_calls(meter, 1, true);
  EXPECT_TRUE(meter.waits);
  add_calls(meter, Meter::kAwake - 1, false);
  EXPECT_TRUE(meter.waits);
  add_calls(meter, 1, false);
  EXPECT_FALSE(meter.waits);
}

constexpr int64_t kMs = 1'000'000;

void add_long_calls(Meter& meter, int calls, const ThreadTime& each, int64_t took) {
  for (int i = 0; i < calls; ++i) {
    meter.add_measured({}, each, took);
    meter.judge();
  }
}

TEST(Meter, OfAFunctionThatSleepsForMostOfItsTimeWaits) {
  Meter meter;
  add_long_calls(meter, 3, {.cpu_ns = kMs, .voluntary_switches = 1}, 10 * kMs);
  EXPECT_TRUE(meter.waits);
  add_long_calls(meter, 1000, {.cpu_ns = kMs, .voluntary_switches = 1}, 10 * kMs);
  EXPECT_TRUE(meter.waits);
}

// Where there are more threads than processors, a call takes its time though it
// sleeps only for a moment, for a lock.
TEST(Meter, OfAFunctionThatHadNoProcessorDoesNotWait) {
  Meter meter;
  add_long_calls(meter, 1000, {.cpu_ns = kMs, .ready_ns = 9 * kMs - 1000, .voluntary_switches = 1}, 10 * kMs);
  EXPECT_FALSE(meter.waits);
  EXPECT_FALSE(meter.sleeps);
}

TEST(Meter, OfAFunctionThatWaitedOnceForgetsTheWait) {
  Meter meter;
  add_long_calls(meter, 1, {.voluntary_switches = 1}, 500 * kMs);
  EXPECT_TRUE(meter.waits);
  add_long_calls(meter, 20, {.cpu_ns = 10 * kMs}, 10 * kMs);
  EXPECT_TRUE(meter.waits);
  add_long_calls(meter, 200, {.cpu_ns = 10 * kMs}, 10 * kMs);
  EXPECT_FALSE(meter.waits);
  EXPECT_EQ(meter.measured_ns, 2700 * kMs);
}

TEST(ThreadTime, GrowsWithWork) {
  const ThreadTime begun = thread_time();
  while (thread_time().cpu_ns == begun.cpu_ns) {
  }
  EXPECT_GE(thread_time().ready_ns, begun.ready_ns);
  EXPECT_GE(thread_time().voluntary_switches, begun.voluntary_switches);
}

}  // namespace
}  // namespace stoker
