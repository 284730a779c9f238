// What do the counters cost?
//
// They are always on, so they are measured by themselves: what one run pays
// (two readings of the clock and one Meter::add for each step, alone and with
// every core adding to the same meter) against how long the runs of a pipeline
// are. The pipelines are those of per_element and engine_share.
#include "bench/pipelines/report.h"
#include "stoker/runtime/meter.h"

namespace stoker::bench {
namespace {

// ns for one step of one run.
double metering_ns(int threads) {
  constexpr int64_t kTimes = 300'000;
  Meter meter;
  std::vector<double> each(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const double begin = now();
      for (int64_t i = 0; i < kTimes; ++i) {
        const int64_t begun = now_ns();
        meter.add(1024, now_ns() - begun, 8192);
      }
      each[static_cast<size_t>(t)] = (now() - begin) / kTimes * 1e9;
    });
  for (std::thread& thread : all) thread.join();
  return most(each);
}

struct Length {
  double run_ns = 0;  // CPU time of the process for each run of the first window
  double steps = 0;   // stages metered in it
};

// How long a run is, from the loader's own statistics; a batch of `cut` rows
// behind it cuts it.
Length length_of_runs(const Dataset& dataset, double cut) {
  Loader loader(dataset);
  const double cpu = cpu_now();
  drain(loader);
  const double spent = cpu_now() - cpu;
  const nlohmann::json stats = nlohmann::json::parse(loader.stats());
  double elements = 0, rows = 1, steps = 0;
  for (const auto& stage : stats["stages"]) {
    elements = std::max(elements, stage["elements"].get<double>());
    steps += stage["elements"].get<double>() > 0;
  }
  for (const auto& window : stats["windows"]) rows = std::max(rows, std::min(cut, window["run_rows"].get<double>()));
  return {.run_ns = spent * 1e9 / (elements / rows), .steps = steps};
}

void tell(Report& report, const std::string& name, const Length& length, double metering) {
  report.add({.name = name + ", length of a run", .value = length.run_ns / 1e3, .unit = "us"});
  report.add({.name = name + ", share of the counters",
              .value = 100 * length.steps * metering / length.run_ns,
              .unit = "%",
              .at_most = 1});
}

}  // namespace
}  // namespace stoker::bench

int main(int argc, char** argv) {
  using namespace stoker;
  using namespace stoker::bench;
  Report report(argc, argv, "stats_cost");
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
       length_of_runs(range.map({.map_func = [](Value x) { return x * 2 + 1; }}).batch({.batch_size = 1024}), 1024),
       median(alone));
  tell(report, "range, C++ function on numbers",
       length_of_runs(range.map({.map_func = [](int64_t x) { return x * 2 + 1; }}), 1 << 20), median(alone));
  const int64_t turns = turns_for(1e-3);
  tell(report, "1 ms of work",
       length_of_runs(Dataset::range({.stop = 300}).map({.map_func = [turns](int64_t i) { return turn(turns, i); }}),
                      1 << 20),
       median(together));
  return report.end();
}
