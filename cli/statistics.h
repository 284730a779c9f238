#pragma once

#include <string>

#include "stoker/runtime/loader_stats.h"

// Prints what Loader::stats() returns.
namespace stoker::cli {

// The sum of the busy seconds of all stages.
double busy_seconds(const LoaderStats& stats);

// A table of the stages, with each stage's share of the busy time.
std::string stage_table(const LoaderStats& stats);

}  // namespace stoker::cli
