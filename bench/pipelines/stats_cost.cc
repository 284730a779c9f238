// How much time do the statistics counters take?
//
// The counters cannot be disabled, so they are measured separately: the cost of one
// run through one stage (one clock read and one Meter::add, on one thread and with
// every core adding to the same meter), multiplied by the number of runs, and
// divided by the CPU time of the whole pipeline. The pipelines are those of
// per_element and engine_share.
#include "bench/pipelines/report.h"
#include "stoker/runtime/meter.h"

namespace stoker::bench {
namespace {

// Returns the ns that the counters take for one step of one run.
double metering_ns(int threads) {
  constexpr int64_t kTimes = 300'000;
  Meter meter;
  std::vector<double> each(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const double begin = now();
      int64_t begun = now_ns();
      for (int64_t i = 0; i < kTimes; ++i) {
        const int64_t ended = now_ns();
        meter.add(1024, ended - std::exchange(begun, ended), 8192);
      }
      each[static_cast<size_t>(t)] = (now() - begin) / kTimes * 1e9;
    });
  for (std::thread& thread : all) thread.join();
  return most(each);
}

struct Counted {
  double cpu_ns = 0;  // of the process
  double runs = 0;    // runs through a stage
};

Counted counted(const Dataset& dataset) {
  Loader loader(dataset);
  const double cpu = cpu_now();
  drain(loader);
  Counted all{.cpu_ns = (cpu_now() - cpu) * 1e9};
  for (const StageStats& stage : loader.stats().stages) all.runs += static_cast<double>(stage.runs);
  return all;
}

void tell(Report& report, const std::string& name, const Dataset& dataset, double metering) {
  const Counted all = counted(dataset);
  report.add(
      {.name = name + ", CPU time for each run through a stage", .value = all.cpu_ns / all.runs / 1e3, .unit = "us"});
  report.add({.name = name + ", share of the counters",
              .value = 100 * all.runs * metering / all.cpu_ns,
              .unit = "%",
              .at_most = 1});
}

int run(Report& report) {
  std::vector<double> alone, together;
  for (int i = 0; i < 5; ++i) {
    alone.push_back(metering_ns(1));
    together.push_back(metering_ns(cores()));
  }
  report.add({.name = "one step of one run, alone", .value = median(alone), .unit = "ns"});
  report.add({.name = "one step of one run, all cores on one meter", .value = median(together), .unit = "ns"});

  configure({.workers = 1});
  const int64_t n = report.quick() ? 1'000'000 : 10'000'000;
  const Dataset range = Dataset::range({.stop = n});
  tell(report, "range, symbolic map, batch(1024)",
       range.map({.map_func = [](Value x) { return x * 2 + 1; }}).batch({.batch_size = 1024}), median(alone));
  tell(report, "range, C++ function on numbers", range.map({.map_func = [](int64_t x) { return x * 2 + 1; }}),
       median(alone));
  const int64_t turns = turns_for(1e-3);
  tell(report, "1 ms of work",
       Dataset::range({.stop = 300}).map({.map_func = [turns](int64_t i) { return turn(turns, i); }}),
       median(together));
  return report.end();
}

const Benchmark benchmark("stats_cost", run);

}  // namespace
}  // namespace stoker::bench
