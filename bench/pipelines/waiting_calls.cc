// A callable sleeps 100 times for 10 ms, with 16 parallel calls: how close to a
// sixteenth of the serial time is the engine on few cores?
//
// The callable does not declare that it waits; the engine detects it. "Cold" is the
// first loader of the process, without waiting threads. "Fresh loader" has the
// threads but must detect the waiting again. "Next epoch" is the next pass of the
// same loader.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

int run(Report& report) {
  constexpr double kWait = 10e-3;
  constexpr int64_t kCalls = 100;
  const int rounds = report.quick() ? 2 : 7;
  configure({.workers = 2});

  const Dataset waiting = Dataset::range({.stop = kCalls})
                              .map({.map_func =
                                        [](int64_t i) {
                                          sleep_for(kWait);
                                          return i;
                                        },
                                    .num_parallel_calls = 16});
  const double serial = seconds_of([] {
    for (int64_t i = 0; i < kCalls; ++i) sleep_for(kWait);
  });
  const auto share = [&](Loader& loader) { return seconds_of([&] { drain(loader); }) / serial; };

  Loader cold(waiting);
  const double cold_share = share(cold);
  std::vector<double> fresh, epoch;
  for (int round = 0; round < rounds; ++round) {
    Loader loader(waiting);
    fresh.push_back(share(loader));
    loader.begin_epoch();
    epoch.push_back(share(loader));
  }
  report.add({.name = "serial", .value = 1e3 * serial, .unit = "ms"});
  report.add({.name = "share of the serial time, cold", .value = cold_share, .unit = "", .at_most = 1.0 / 12});
  report.add(
      {.name = "share of the serial time, fresh loader", .value = median(fresh), .unit = "", .at_most = 1.0 / 12});
  report.add({.name = "share of the serial time, next epoch", .value = median(epoch), .unit = "", .at_most = 1.0 / 12});
  return report.end();
}

const Benchmark benchmark("waiting_calls", run);

}  // namespace
}  // namespace stoker::bench
