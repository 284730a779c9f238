#pragma once

#include <string>
#include <vector>

#include "stoker/runtime/loader_stats.h"
#include "stoker/runtime/schedule.h"

namespace stoker {

// The parts of an iterator's statistics and messages.

// " (defined at train.py:41)", or "" if the location is unknown.
std::string defined_at(const Meter& meter);
std::vector<StageStats> stage_stats(const Meters& meters);
std::vector<WindowStats> window_stats(const Schedule& schedule) STOKER_REQUIRES(engine_lock);
// Returns the bytes of all caches in the graph.
int64_t cached_bytes(const Plan& plan);
// Returns the shuffles and caches whose size is known.
std::vector<HeldStats> held_stats(const Meters& meters, const Plan& plan);

// Describes the call or line that the reader of `last` waits for: the stage, the element, and the location of the stage
// in the user's code.
std::string awaited_by(const Segment& last, const Plan& plan) STOKER_REQUIRES(engine_lock);

}  // namespace stoker
