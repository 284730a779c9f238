#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/diagnose/facts.h"
#include "stoker/graph/json.h"

namespace stoker {

// What Loader::stats() had counted up to a moment.
struct LoaderCounts {
  struct Stage {
    std::string name;
    int64_t at_once = 0;  // calls at most; 0: as many as there are threads
    bool user = false;    // runs a function of the user's
    bool waits = false;   // on threads of its own, as many as it takes
    double busy_seconds = 0;
    double measured_seconds = 0;
    double on_cpu_seconds = 0;
    double starved = 0;
    double blocked = 0;
  };
  int workers = 0;
  int64_t skipped = 0;
  int64_t budget_bytes = 0;
  std::vector<Stage> stages;
  std::vector<HeldFacts> held;

  // What is missing or of another kind counts as 0.
  static LoaderCounts of(const Json& stats);
};

// What the stages did from one moment to another, `seconds` later, for so many
// batches. Functions of the user's are Python where `python` says so.
std::vector<StageFacts> stages_between(const LoaderCounts& begun, const LoaderCounts& now, double seconds,
                                       int64_t batches, bool python);

}  // namespace stoker
