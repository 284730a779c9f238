#include "stoker/runtime/meter.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

void add_calls(Meter& meter, int64_t calls, bool slept) {
  for (int64_t i = 0; i < calls; ++i) {
    ThreadTime begun = thread_time();
    if (slept) --begun.gave_way;
    meter.add_measured(begun, 1000);
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

TEST(Meter, OfOtherCallsIsNotChangedByThoseThatDoNotSleep) {
  Meter meter;
  meter.waits = true;
  add_calls(meter, 2 * Meter::kAwake, false);
  EXPECT_TRUE(meter.waits);
}

}  // namespace
}  // namespace stoker
