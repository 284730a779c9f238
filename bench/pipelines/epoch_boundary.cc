// How long does the first element take, and how long is the gap between epochs?
//
// First element: from the first call of next() of a new loader to its return, for
// the first loader of the process, for new datasets, and for a dataset with a
// global shuffle over 10^9 positions. Gap: from the return of the last element of
// an epoch to the return of the first element of the next, in a `for` loop over the
// same loader, compared with the service time of one element. Measured with a
// consumer that takes elements as fast as possible, and with one that is slower
// than the workers.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

constexpr double kService = 2e-3;

double first_element_ms(const Dataset& dataset) {
  Loader loader(dataset);
  return 1e3 * seconds_of([&] { next_of(loader); });
}

// Returns the time per element of the dataset's map, from the engine's statistics.
double service_seconds(Loader& loader) {
  for (const StageStats& stage : loader.stats().stages)
    if (stage.stage.ends_with("map")) return stage.mean_ns * 1e-9;
  fail("there is no map in the statistics");
}

// One element of the dataset consists of `elements` of the map, `at_once` of which are computed in parallel.
struct Share {
  int elements = 1;
  int at_once = 1;
};

void measure_gap(Report& report, const std::string& name, Share share, const Dataset& dataset, double think,
                 int epochs) {
  Loader loader(dataset);
  std::vector<double> gaps;
  double last = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    bool first = true;
    for (const Element& element : loader) {
      (void)element;
      if (first && epoch > 0) gaps.push_back(1e3 * (now() - last));
      first = false;
      if (think > 0) sleep_for(think);
      last = now();
    }
  }
  const double service = service_seconds(loader) * share.elements / share.at_once;
  report.add(
      {.name = "epoch gap, " + name + ", median", .value = median(gaps), .unit = "ms", .at_most = 1e3 * service});
  report.add({.name = "epoch gap, " + name + ", 9 of 10 within", .value = quantile(gaps, 0.9), .unit = "ms"});
}

int run(Report& report) {
  const int rounds = report.quick() ? 20 : 200;

  const auto make = [](int64_t n) {
    return Dataset::range({.stop = n}).map({.map_func = [](Value x) { return x * 2 + 1; }}).batch({.batch_size = 32});
  };
  report.add(
      {.name = "first element of the process", .value = first_element_ms(make(1'000'000)), .unit = "ms", .at_most = 5});
  std::vector<double> fresh, shuffled, called;
  for (int i = 0; i < rounds; ++i) {
    fresh.push_back(first_element_ms(make(1'000'000)));
    shuffled.push_back(first_element_ms(Dataset::range({.stop = 1'000'000'000}).shuffle({}).batch({.batch_size = 32})));
    called.push_back(first_element_ms(Dataset::range({.stop = 1000})
                                          .map({.map_func = [](int64_t x) { return x * 2 + 1; }})
                                          .batch({.batch_size = 32})));
  }
  const auto tell = [&](const std::string& name, const std::vector<double>& times) {
    report.add({.name = "first element, " + name + ", median", .value = median(times), .unit = "ms", .at_most = 5});
    report.add({.name = "first element, " + name + ", slowest", .value = most(times), .unit = "ms"});
  };
  tell("range, map, batch(32)", fresh);
  tell("a C++ function instead", called);
  tell("shuffle() over 10^9", shuffled);

  const int64_t turns = turns_for(kService);
  const int epochs = report.quick() ? 6 : 21;
  const Dataset work = Dataset::range({.stop = 50}).map({.map_func = [turns](int64_t i) { return turn(turns, i); }});
  measure_gap(report, "fast consumer, 2 ms an element", {}, work, 0, epochs);
  measure_gap(report, "slow consumer, 2 ms an element", {}, work, 2.5e-3, epochs);
  measure_gap(report, "slow consumer, 2 ms an element, batch(8)", {.elements = 8, .at_once = std::min(8, cores())},
              work.batch({.batch_size = 8}), 18e-3, epochs);
  return report.end();
}

const Benchmark benchmark("epoch_boundary", run);

}  // namespace
}  // namespace stoker::bench
