#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// The input of judge(): what was measured in one interval of time, as plain numbers
// from a live or a recorded run. A value that was not measured is nullopt, not 0.

struct StageFacts {
  std::string name;
  int threads = 1;               // threads that may run the stage at the same time
  double working = 0;            // share of the threads' time; the sum with the next two is at most 1
  double starved = 0;            // share of the time without input
  double blocked = 0;            // share of the time with a full output window
  double batch_seconds = 0;      // work per batch, on one thread
  bool python = false;           // the stage runs Python code
  std::optional<double> on_cpu;  // share of the working time
};

// A shuffle or cache that is filling: its size now, and its size when it is full.
struct HeldFacts {
  std::string stage;
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t elements_in_all = 0;  // when it is full
  bool drops = false;           // a cache, which drops elements that do not fit and recomputes them
};

struct IteratorFacts {
  int64_t made = 0;          // iterators created one after the other, and dropped
  double batches_each = 0;   // maximum
  double start_seconds = 0;  // mean time of one iterator until its first batch
  std::string written_at;    // "train.py:41"
};

// The loop requested a batch and has not received one, not even a first one.
struct SilenceFacts {
  double seconds = 0;
  std::optional<double> on_cpu;  // share of this time that the producing thread was on the CPU
  std::string where;             // what it executes now: "line 12 of make_batches (train.py)"
};

struct FailureFacts {
  int64_t failed = 0;
  int64_t elements = 0;  // elements tried; 0: unknown
  bool skipped = false;  // the policy skipped them; false: the error reached the loop
  std::string first;     // message of the first error
  std::string path;      // file of the first error
};

struct NonFiniteFacts {
  std::string component;  // "image", "0"
  int64_t values = 0;
  std::string origin;  // of the batch or element
};

struct RunFacts {
  int64_t steps = 0;  // batches delivered in the interval
  double seconds = 0;
  double wait_seconds = 0;  // time that the loop waited for batches
  std::vector<StageFacts> stages;
  std::optional<int> workers;                       // that prefetch batches; 0: the training thread produces them
  int cores = 0;                                    // that this process may use; 0: unknown
  std::optional<double> interpreter_probe_seconds;  // median wait for the interpreter lock (GIL)
  int64_t memory_limit = 0;                         // bytes; 0: unknown

  IteratorFacts iterators;
  std::optional<int64_t> steps_asked;    // steps per epoch that the loop will take
  std::optional<int64_t> batches_there;  // batches per epoch, if known before the run
  int64_t batches_given = 0;             // delivered in this epoch
  bool ended = false;                    // this epoch has ended
  SilenceFacts silence;
  std::string source;  // "list_files '*.jpg'"
  std::vector<HeldFacts> held;
  FailureFacts failures;
  std::vector<NonFiniteFacts> non_finite;
};

}  // namespace stoker
