#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// What a run showed in one window of time, as plain numbers from a live run or
// a recorded one. What was not measured is nothing, never 0.

struct StageFacts {
  std::string name;
  int threads = 1;               // that may work on it at once
  double working = 0;            // share of its threads' time; with the next two, at most 1
  double starved = 0;            // nothing to work on
  double blocked = 0;            // nowhere to put it
  double batch_seconds = 0;      // of work for one batch, on one thread
  bool python = false;           // runs the interpreter
  std::optional<double> on_cpu;  // share of the working time
};

// A shuffle or cache that fills: what it holds and what it will hold.
struct HeldFacts {
  std::string stage;
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t elements_in_all = 0;  // when it is full
};

struct IteratorFacts {
  int64_t made = 0;
  double batches_each = 0;   // median
  double start_seconds = 0;  // median, until the first batch
  std::string written_at;    // "train.py:41"
};

struct FailureFacts {
  int64_t failed = 0;
  int64_t elements = 0;  // that were tried
  bool skipped = false;  // by policy; else the run ended there
  std::string first;     // the first error, in words
  std::string path;      // its file
};

struct NonFiniteFacts {
  std::string component;  // "image", "0"
  int64_t values = 0;
  std::string origin;  // of the batch or element
};

struct RunFacts {
  int64_t steps = 0;  // batches handed over in the window
  double seconds = 0;
  double wait_seconds = 0;  // the loop had nothing to work on
  std::vector<StageFacts> stages;
  std::optional<double> interpreter_probe_seconds;  // median wait for Python's lock
  int64_t memory_limit = 0;                         // 0: not known

  IteratorFacts iterators;
  std::optional<int64_t> steps_asked;  // of the data set, in all epochs together
  int64_t batches_given = 0;           // since the begin
  bool ended = false;                  // the data set has no more
  std::string source;                  // "list_files '*.jpg'"
  std::vector<HeldFacts> held;
  FailureFacts failures;
  std::vector<NonFiniteFacts> non_finite;
};

}  // namespace stoker
