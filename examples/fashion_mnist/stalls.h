#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/diagnose/verdict.h"

namespace fashion_mnist {

// Three ways in which training is held up by its data, each in its stalled and
// its good form, with what the diagnosis says of both. docs/guide has a page on
// each. All of them throw stoker::Error.

// A step on (float32 [n, 1, 28, 28], int64 [n]).
using Train = std::function<void(const stoker::Element& batch)>;

// How much is done.
struct Effort {
  int64_t batch = 64;
  int64_t large_pictures = 256;
  double seconds = 3;                                   // of each form, at most
  int64_t steps = std::numeric_limits<int64_t>::max();  // likewise
  double window_seconds = 1;                            // of the watch
};

// What one form of a loop came to.
struct Form {
  int64_t steps = 0;
  double step_seconds = 0;
  std::vector<stoker::Verdict> verdicts;

  std::string code() const { return verdicts.empty() ? "none" : verdicts[0].code; }
};

struct Mended {
  Form stalled, good;
};

// The loop decodes its pictures itself, one at a time.
struct DecodeInTheLoop : Mended {
  int64_t side = 0;           // of the PNGs, chosen so that decoding takes its share of a step
  double decode_seconds = 0;  // of a stalled step
};
DecodeInTheLoop decode_in_the_loop(const Train& train, const std::string& folder, const Effort& effort = {});

// next(iter(ds)), here *watch.begin().
Mended new_iterator_each_step(const Train& train, const std::string& folder, const Effort& effort = {});

constexpr int64_t kStepsAsked = 15;
constexpr int64_t kBatchesThere = 10;
Mended steps_beyond_the_data(const Train& train, const std::string& folder, Effort effort = {});

}  // namespace fashion_mnist
