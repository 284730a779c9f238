#pragma once

#include <vector>

#include "stoker/diagnose/facts.h"
#include "stoker/runtime/loader_stats.h"

namespace stoker {

// Returns what the stages did between two times that are `seconds` apart, in which `batches` were delivered. `python`:
// user functions are Python functions.
std::vector<StageFacts> stages_between(const LoaderStats& begun, const LoaderStats& now, double seconds,
                                       int64_t batches, bool python);

// Returns the shuffles and caches that are filling.
std::vector<HeldFacts> held_facts(const LoaderStats& stats);

}  // namespace stoker
