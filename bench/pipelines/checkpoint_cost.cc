// How large is a checkpoint, how long does saving take, and how long does it take
// from restoring to the first element?
//
// Measures shuffle() over 10^9 positions and shuffle(10^6) over 10^7, saved after
// few and after many elements. Restoring the second may replay its draws. The cost
// of a replay is measured with a bare loop that fills a buffer and draws from it as
// the shuffle does. A replay does not need the drawn positions, so it reads none.
#include <deque>

#include "bench/pipelines/report.h"
#include "stoker/core/rng.h"

namespace stoker::bench {
namespace {

double replay_seconds(int64_t buffer, int64_t draws) {
  std::deque<int64_t> names;
  Philox numbers(1, 2);
  int64_t next = 0;
  return seconds_of([&] {
    for (int64_t i = 0; i < draws; ++i) {
      while (static_cast<int64_t>(names.size()) < buffer) names.push_back(next++);
      const size_t at = numbers.next() % names.size();
      names[at] = names.front();
      names.pop_front();
    }
  });
}

void measure(Report& report, const std::string& name, const Dataset& dataset, int64_t delivered, double replay_ms,
             int rounds) {
  Loader loader(dataset);
  for (int64_t i = 0; i < delivered; ++i)
    if (!next_of(loader)) fail("the dataset ended before the position to save");
  std::vector<double> save, restore;
  std::string checkpoint;
  for (int round = 0; round < rounds; ++round) {
    save.push_back(1e3 * seconds_of([&] {
                     Result<std::string> saved = loader.save();
                     if (!saved) fail(saved.error().message());
                     checkpoint = *std::move(saved);
                   }));
  }
  const std::optional<Element> expected = next_of(loader);
  for (int round = 0; round < std::min(rounds, 5); ++round) {
    Loader fresh(dataset);
    std::optional<Element> first;
    restore.push_back(1e3 * seconds_of([&] {
                        if (Result<void> restored = fresh.restore(checkpoint); !restored)
                          fail(restored.error().message());
                        first = next_of(fresh);
                      }));
    if (!first || !(*first == *expected)) fail(name + ": a restored loader goes on with something else");
  }
  report.add(
      {.name = name + ", size", .value = static_cast<double>(checkpoint.size()), .unit = "bytes", .at_most = 4096});
  report.add({.name = name + ", save", .value = median(save), .unit = "ms", .at_most = 1});
  report.add({.name = name + ", slowest save", .value = most(save), .unit = "ms"});
  report.add({.name = name + ", restore to first element",
              .value = median(restore),
              .unit = "ms",
              .at_most = 10 + replay_ms,
              .note = replay_ms > 0 ? "bare replay of the draws: " + std::to_string(replay_ms) + " ms" : ""});
}

int run(Report& report) {
  const int rounds = report.quick() ? 5 : 50;
  const int64_t many = report.quick() ? 300'000 : 3'000'000;
  const Dataset everything = Dataset::range({.stop = 1'000'000'000}).shuffle({.seed = 1});
  measure(report, "shuffle() of 10^9 after 100", everything, 100, 0, rounds);
  measure(report, "shuffle() of 10^9 after " + std::to_string(many), everything, many, 0, rounds);

  const Dataset window = Dataset::range({.stop = 10'000'000}).shuffle({.buffer_size = 1'000'000, .seed = 1});
  for (const int64_t delivered : {int64_t{100}, many}) {
    std::vector<double> replay;
    for (int i = 0; i < 3; ++i) replay.push_back(1e3 * replay_seconds(1'000'000, delivered + 1));
    measure(report, "shuffle(10^6) of 10^7 after " + std::to_string(delivered), window, delivered, median(replay),
            rounds);
  }
  return report.end();
}

const Benchmark benchmark("checkpoint_cost", run);

}  // namespace
}  // namespace stoker::bench
