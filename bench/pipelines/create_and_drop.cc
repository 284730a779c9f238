// How long does it take to drop a loader while it works, and does it leak
// anything?
//
// Drops loaders while workers are inside calls: 1 ms of work, a sleep of 100 ms,
// and a generator that blocks. Then runs 10,000 cycles of create, take a few
// elements, drop. The numbers of threads and descriptors and the memory must be the
// same as before. Free memory of malloc is returned to the system shortly after the
// last loader is gone, so both measurements wait for that.
#include <filesystem>

#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

int count_entries(const char* folder) {
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    (void)entry;
    ++n;
  }
  return n;
}

void measure_drop(Report& report, const std::string& name, const Dataset& dataset, int rounds, int64_t take) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Loader> loader(std::in_place, dataset);
    for (int64_t i = 0; i < take; ++i) next_of(*loader);
    sleep_for(1e-3 * (round % 7));  // at different points of a call
    times.push_back(1e3 * seconds_of([&] { loader.reset(); }));
  }
  report.add({.name = "drop, " + name + ", median", .value = median(times), .unit = "ms"});
  report.add({.name = "drop, " + name + ", slowest of " + std::to_string(rounds),
              .value = most(times),
              .unit = "ms",
              .at_most = 50});
}

int run(Report& report) {
  const int rounds = report.quick() ? 20 : 300;
  const int64_t turns = turns_for(1e-3);
  const Dataset range = Dataset::range({.stop = 1'000'000});

  measure_drop(report, "native map",
               range.map({.map_func = [](Value x) { return x * 2 + 1; }}).batch({.batch_size = 64}), rounds, 3);
  measure_drop(report, "1 ms of work", range.map({.map_func = [turns](int64_t i) { return turn(turns, i); }}), rounds,
               2);
  measure_drop(report, "shuffle(10^6)", range.shuffle({.buffer_size = 1'000'000}).batch({.batch_size = 64}),
               rounds / 10, 1);

  const Dataset few = range.map({.map_func = [](Value x) { return x * 2 + 1; }}).batch({.batch_size = 64});
  const auto cycle = [&] {
    Loader loader(few);
    for (int i = 0; i < 3; ++i) next_of(loader);
  };
  for (int i = 0; i < 500; ++i) cycle();
  sleep_for(0.5);
  const int threads = count_entries("/proc/self/task");
  const int descriptors = count_entries("/proc/self/fd");
  const int64_t resident = resident_bytes();
  const int cycles = report.quick() ? 500 : 10'000;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < cycles; ++i) cycle();
  });
  sleep_for(0.5);
  const std::string after = " after " + std::to_string(cycles) + " cycles";
  report.add({.name = "more threads" + after,
              .value = static_cast<double>(count_entries("/proc/self/task") - threads),
              .unit = "",
              .at_most = 0});
  report.add({.name = "more descriptors" + after,
              .value = static_cast<double>(count_entries("/proc/self/fd") - descriptors),
              .unit = "",
              .at_most = 0});
  report.add({.name = "more resident memory" + after,
              .value = static_cast<double>(resident_bytes() - resident) / 1e6,
              .unit = "MB",
              .at_most = 1});
  report.add(
      {.name = "held bytes" + after, .value = static_cast<double>(memory_use().held), .unit = "bytes", .at_most = 0});
  report.add({.name = "one cycle of make, take 3, drop", .value = 1e6 * seconds / cycles, .unit = "us"});

  // Last, because calls that are still sleeping keep their threads for a while.
  measure_drop(report, "a call that sleeps 100 ms",
               range.map({.map_func =
                              [](int64_t i) {
                                if (i > 0) sleep_for(0.1);
                                return i;
                              },
                          .num_parallel_calls = 4}),
               report.quick() ? 5 : 20, 1);
  measure_drop(report, "a generator that blocks for 300 ms",
               Dataset::from_generator({.generator = []() -> FromGenerator::Next {
                 return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
                   if (i > 0) sleep_for(0.3);
                   return std::optional<Element>(Element(Array::of<int64_t>(i++)));
                 };
               }}),
               report.quick() ? 5 : 20, 1);
  return report.end();
}

const Benchmark benchmark("create_and_drop", run);

}  // namespace
}  // namespace stoker::bench
