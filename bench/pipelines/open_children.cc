// Does an element cost more when thousands of datasets are open at once?
//
// interleave takes one element in turn from each of n open datasets of 200 numbers.
// The cost of choosing the next piece of work must not depend on n. With 4,000 open
// datasets, whose memory does not fit the processor's caches, an element may cost
// at most twice as much as with 16.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

constexpr int64_t kEach = 200;  // elements per dataset

Dataset interleaved(int64_t open, int64_t datasets) {
  return Dataset::range({.stop = datasets})
      .interleave({.map_func = [](const Element&) { return Dataset::range({.stop = kEach}); },
                   .cycle_length = open,
                   .block_length = 1});
}

// Returns elements per second, including the time to open the first datasets.
double rate(int64_t open, int64_t datasets) {
  Loader loader(interleaved(open, datasets));
  const double begin = now();
  drain(loader);
  return static_cast<double>(datasets * kEach) / (now() - begin);
}

int run(Report& report) {
  const int64_t datasets = report.quick() ? 4'000 : 16'000;
  const double few = rate(16, datasets);
  report.add({.name = "elements a second, 16 open", .value = few, .unit = "1/s"});
  for (const int64_t open : {1'000, 2'000, 4'000}) {
    const double many = rate(open, datasets);
    report.add({.name = "elements a second, " + std::to_string(open) + " open", .value = many, .unit = "1/s"});
    report.add({.name = "time of an element, " + std::to_string(open) + " open, against 16 open",
                .value = few / many,
                .unit = "times",
                .at_most = 2});
  }
  return report.end();
}

const Benchmark benchmark("open_children", run);

}  // namespace
}  // namespace stoker::bench
