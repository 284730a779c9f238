// One element in 50 takes 20 times as long, and order is kept: how near does
// the consumer's rate come to threads that never wait for anybody?
//
// The ideal is bare threads that take the same elements from a counter. Slow
// ones come at every 50th place or, worse, at random, where they meet.
// "First pass" begins with untuned windows; "later" is a third pass of the same
// loader.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

enum class Places { kRegular, kRandom };

int64_t turns_of(Places places, int64_t i, int64_t turns) {
  const uint64_t draw = places == Places::kRegular ? static_cast<uint64_t>(i) : mix_bits(static_cast<uint64_t>(i) + 1);
  return draw % 50 == 0 ? 20 * turns : turns;
}

void measure(Report& report, Places places, int workers, int64_t n, int rounds) {
  const int64_t turns = turns_for(200e-6);
  const auto work = [=](int64_t i) { return turn(turns_of(places, i, turns), i); };
  configure({.workers = workers});
  std::vector<double> first, later;
  for (int round = 0; round < rounds; ++round) {
    Loader loader(Dataset::range({.stop = n}).map({.map_func = work}));
    const double engine_first = seconds_of([&] { drain(loader); });
    const double bare_first = bare_threads(workers, n, work);
    loader.begin_epoch();
    drain(loader);
    const double bare_later = bare_threads(workers, n, work);
    loader.begin_epoch();
    const double engine_later = seconds_of([&] { drain(loader); });
    first.push_back(bare_first / engine_first);
    later.push_back(bare_later / engine_later);
  }
  const std::string name = std::string(places == Places::kRegular ? "every 50th slow, " : "at random slow, ") +
                           std::to_string(workers) + " workers, share of the ideal, ";
  report.add({.name = name + "first pass", .value = median(first), .unit = "", .at_least = 0.95});
  report.add({.name = name + "later", .value = median(later), .unit = "", .at_least = 0.95});
}

}  // namespace
}  // namespace stoker::bench

int main(int argc, char** argv) {
  using namespace stoker::bench;
  Report report(argc, argv, "slow_elements");
  const int rounds = report.quick() ? 2 : 5;
  for (const int workers : report.numbers("workers", {std::min(2, cores())})) {
    const int64_t n = (report.quick() ? 800 : 2000) * workers;
    measure(report, Places::kRegular, workers, n, rounds);
    measure(report, Places::kRandom, workers, n, rounds);
  }
  return report.end();
}
