// One element in 50 takes 20 times as long, and the order is kept: how close is the
// consumer's rate to that of threads that never wait for one another?
//
// The ideal is bare threads that take the same elements from a counter. Slow
// elements are at every 50th position or, which is harder, at random positions,
// where several can be close together. Elements take 1 ms; with 200 us, waking the
// consumer on cores that the workers occupy is a larger share. "Begin" is the first
// third of a pass, with untuned windows; "later" is the rest.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

enum class Places { kRegular, kRandom };

int64_t turns_of(Places places, int64_t i, int64_t turns) {
  const uint64_t draw = places == Places::kRegular ? static_cast<uint64_t>(i) : mix_bits(static_cast<uint64_t>(i) + 1);
  return draw % 50 == 0 ? 20 * turns : turns;
}

struct Case {
  Places places;
  double seconds;  // time of a fast element
  bool wanted;
};

void measure(Report& report, const Case& one, int workers, int64_t n, int rounds) {
  const int64_t turns = turns_for(one.seconds);
  const auto work = [=](int64_t i) { return turn(turns_of(one.places, i, turns), i); };
  configure({.workers = workers});
  std::vector<double> begin, later;
  for (int round = 0; round < rounds; ++round) {
    Loader loader(Dataset::range({.stop = 3 * n}).map({.map_func = work}));
    const auto take = [&](int64_t count) {
      for (int64_t i = 0; i < count; ++i) next_of(loader);
    };
    const double engine_begin = seconds_of([&] { take(n); });
    const double engine_later = seconds_of([&] { take(2 * n); });
    const double bare = bare_threads(workers, 3 * n, work) / 3;
    begin.push_back(bare / engine_begin);
    later.push_back(2 * bare / engine_later);
  }
  const std::string name = std::string(one.places == Places::kRegular ? "every 50th" : "at random") + " of " +
                           std::to_string(static_cast<int>(one.seconds * 1e6)) + " us, " + std::to_string(workers) +
                           " workers, share of the ideal, ";
  const std::optional<double> at_least = one.wanted ? std::optional(0.95) : std::nullopt;
  report.add({.name = name + "begin", .value = median(begin), .unit = "", .at_least = at_least});
  report.add({.name = name + "later", .value = median(later), .unit = "", .at_least = at_least});
}

int run(Report& report) {
  const int rounds = report.quick() ? 1 : 3;
  const std::vector<Case> cases = {
      {.places = Places::kRegular, .seconds = 1e-3, .wanted = true},
      {.places = Places::kRandom, .seconds = 1e-3, .wanted = true},
      {.places = Places::kRandom, .seconds = 200e-6, .wanted = false},
  };
  for (const int workers : report.numbers("workers", {std::min(2, cores())}))
    for (const Case& one : cases) measure(report, one, workers, (report.quick() ? 250 : 500) * workers, rounds);
  return report.end();
}

const Benchmark benchmark("slow_elements", run);

}  // namespace
}  // namespace stoker::bench
