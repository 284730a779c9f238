#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/diagnose/verdict.h"

namespace fashion_mnist {

// Three training loops that wait for their data, each in a stalled and a good form,
// with the verdicts for both. docs/guide has a page about each. All functions throw
// stoker::Error.

// One training step on (float32 [n, 1, 28, 28], int64 [n]).
using Train = std::function<void(const stoker::Element& batch)>;

// How long the loops run, and on how much data.
struct Effort {
  int64_t batch = 64;
  int64_t large_images = 256;
  double seconds = 3;                                   // maximum, for each form
  int64_t steps = std::numeric_limits<int64_t>::max();  // maximum, for each form
  double window_seconds = 1;                            // of the watch
};

// The result of one form of a loop.
struct Form {
  int64_t steps = 0;
  double step_seconds = 0;
  std::vector<stoker::Verdict> verdicts;

  std::string code() const { return verdicts.empty() ? "none" : verdicts[0].code; }
};

struct Mended {
  Form stalled, good;
};

// The loop decodes its own images, one at a time.
struct DecodeInTheLoop : Mended {
  int64_t side = 0;           // of the PNGs, chosen so that decoding takes a fixed share of a step
  double decode_seconds = 0;  // per step of the stalled form
};
DecodeInTheLoop decode_in_the_loop(const Train& train, const std::string& folder, const Effort& effort = {});

// Every step calls next(iter(ds)), which is *watch.begin() here.
Mended new_iterator_each_step(const Train& train, const std::string& folder, const Effort& effort = {});

// The loop requests more steps than there are batches.
constexpr int64_t kStepsAsked = 15;
constexpr int64_t kBatchesThere = 10;
Mended steps_beyond_the_data(const Train& train, const std::string& folder, Effort effort = {});

}  // namespace fashion_mnist
