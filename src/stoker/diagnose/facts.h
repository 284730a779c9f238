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
  bool drops = false;           // what does not fit, to make it again: a cache
};

struct IteratorFacts {
  int64_t made = 0;          // one after the other, and dropped
  double batches_each = 0;   // at most
  double start_seconds = 0;  // of one, until the first batch
  std::string written_at;    // "train.py:41"
};

// A batch was asked for and none has come yet, not even a first one.
struct SilenceFacts {
  double seconds = 0;
  std::optional<double> on_cpu;  // share of it that whoever makes the batch was at work
  std::string where;             // what runs now: "line 12 of make_batches (train.py)"
};

struct FailureFacts {
  int64_t failed = 0;
  int64_t elements = 0;  // that were tried; 0: not known
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
  std::optional<int> workers;                       // that make batches ahead; 0: the thread that trains makes them
  int cores = 0;                                    // that this process may use; 0: not known
  std::optional<double> interpreter_probe_seconds;  // median wait for Python's lock
  int64_t memory_limit = 0;                         // 0: not known

  IteratorFacts iterators;
  std::optional<int64_t> steps_asked;    // of one epoch
  std::optional<int64_t> batches_there;  // in one epoch, where that is known beforehand
  int64_t batches_given = 0;             // in this epoch
  bool ended = false;                    // the epoch has no more
  SilenceFacts silence;
  std::string source;  // "list_files '*.jpg'"
  std::vector<HeldFacts> held;
  FailureFacts failures;
  std::vector<NonFiniteFacts> non_finite;
};

}  // namespace stoker
