#pragma once

#include "stoker/runtime/schedule.h"

namespace stoker {

// Samples the segments of an engine, for its statistics, and adapts the capacities of their windows. The engine's lock
// guards it.
class Tuner {
 public:
  // Looks at up to 128 segments, and continues with the next ones in the next call. With 4,000 open segments, examining
  // all of them under the lock took a tenth of the engine's CPU time.
  void sample_and_tune(Schedule& schedule, int64_t now) STOKER_REQUIRES(engine_lock);

 private:
  Schedule::Place last_{.rank = -1};  // of the segment that was looked at last; it may have been removed
};

}  // namespace stoker
