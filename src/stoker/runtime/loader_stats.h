#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/graph/json.h"

namespace stoker {

// The counters of one stage since its dataset was first iterated.
struct StageStats {
  std::string stage;  // its name, or the path of a stage in an opened dataset: "interleave/map"
  int64_t elements = 0;
  int64_t runs = 0;  // pieces of work; one covers several small elements
  int64_t bytes = 0;
  double busy_seconds = 0;  // of all threads together
  double mean_ns = 0;       // per element
  double spread_ns = 0;
  // Shares of the samples in which the stage worked, had no input, and had a full output window.
  double working = 0;
  double starved = 0;
  double blocked = 0;
  bool waits = false;           // runs on waiting threads
  int64_t at_once = 0;          // maximum number of parallel calls; 0: as many as there are threads
  bool user = false;            // calls a user function
  double measured_seconds = 0;  // time of the calls whose CPU time was measured
  double on_cpu_seconds = 0;    // the CPU time of these calls
};

// The results that are waiting to be taken, in one segment of the graph.
struct WindowStats {
  std::string stages;  // "range → map → batch"
  int64_t capacity = 0;
  int64_t fill = 0;
  int64_t done_behind_head = 0;  // finished results that wait for an earlier one
  int64_t run_rows = 0;          // elements that one piece of work covers
};

// A shuffle or cache, and the elements that it holds.
struct HeldStats {
  std::string stage;
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t elements_in_all = 0;  // when it is full
  bool drops = false;           // a cache, which drops elements that do not fit and recomputes them
};

// The counters of a loader at one time.
struct LoaderStats {
  int64_t elements = 0;  // delivered in this epoch
  double seconds = 0;    // since the epoch started
  double wait_seconds = 0;
  int64_t skipped = 0;
  int64_t held_bytes = 0;
  int64_t budget_bytes = 0;
  int64_t workers = 0;
  std::vector<StageStats> stages;
  std::vector<WindowStats> windows;
  std::vector<HeldStats> held;

  // Between two epochs, and after close(), a loader has no counters.
  bool empty() const { return stages.empty(); }
};

Json to_json(const StageStats& stage);
Json to_json(const WindowStats& window);
// Returns {} if the loader has no counters.
Json to_json(const LoaderStats& stats);

}  // namespace stoker
