// Does the tuner find windows as good as those set by hand, and how soon after the
// consumer has changed its pace?
//
// One element in 50 takes 20 times as long. First part: the consumer pauses between
// elements for twice as long as the workers need on average with a third to spare,
// and after two seconds for half of that. The wait share is the time inside next()
// divided by all time. It has settled when it stays below 2 %. With more workers,
// each element has more work, so that the consumer's pace is the same with any
// number of workers (per_element measures the cost of next() itself). Second part:
// throughput with tuned windows, compared with prefetch(n) for many n, with a
// consumer that takes elements as fast as possible, and with one that takes bursts
// of 32 per worker and pauses in between.
#include <span>

#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

constexpr double kWork = 300e-6;
constexpr double kMean = kWork * (49 + 20) / 50;
constexpr double kMostWaiting = 0.02;  // of the consumer's time

Dataset work(int64_t turns) {
  return Dataset::counter({}).map({.map_func = [turns](int64_t i) {
    return turn(mix_bits(static_cast<uint64_t>(i) + 1) % 50 == 0 ? 20 * turns : turns, i);
  }});
}

struct Slice {
  double end = 0;  // seconds after the change of pace
  double waited = 0;
  double length = 0;
};

double wait_share(std::span<const Slice> slices) {
  double waited = 0, length = 0;
  for (const Slice& slice : slices) {
    waited += slice.waited;
    length += slice.length;
  }
  return length > 0 ? waited / length : 0;
}

// Returns the time after which the consumer's wait share stays below the limit.
double settled_after(std::span<const Slice> slices) {
  double settled = 0;
  for (size_t i = 0; i < slices.size() && wait_share(slices.subspan(i)) >= kMostWaiting; ++i) settled = slices[i].end;
  return settled;
}

// Returns slices of 100 ms of the consumer's time, from the change of pace on.
std::vector<Slice> change_pace(const Dataset& dataset, double slow, double fast, double before, double after) {
  Loader loader(dataset);
  std::vector<Slice> slices;
  const double begin = now();
  Slice slice;
  double slice_begin = begin + before;
  while (true) {
    const double asked = now();
    next_of(loader);
    const double got = now();
    const bool changed = asked >= begin + before;
    sleep_for(changed ? fast : slow);
    if (!changed) continue;
    slice.waited += got - asked;
    if (const double t = now(); t - slice_begin >= 0.1) {
      slice.length = t - slice_begin;
      slice.end = t - begin - before;
      slices.push_back(std::exchange(slice, Slice()));
      slice_begin = t;
      if (t - begin - before > after) return slices;
    }
  }
}

// Returns elements per second, after half a second to tune the windows. With a burst
// of 0, the consumer takes elements as fast as possible.
double throughput(const Dataset& dataset, int burst, double think, double seconds) {
  Loader loader(dataset);
  int64_t n = 0;
  double begin = now();
  bool warm = false;
  while (true) {
    for (int i = 0; i < std::max(1, burst); ++i, ++n) next_of(loader);
    if (think > 0) sleep_for(think);
    const double t = now();
    if (!warm && t - begin > 0.5) {
      warm = true;
      begin = t;
      n = 0;
    } else if (warm && t - begin > seconds) {
      return static_cast<double>(n) / (t - begin);
    }
  }
}

void compare_with_hand(Report& report, const std::string& name, int64_t turns, int burst, double think, double seconds,
                       int rounds) {
  std::vector<double> ratios;
  std::map<int64_t, std::vector<double>> rates;
  for (int round = 0; round < rounds; ++round)
    for (const int64_t n : {0, 4, 16, 64, 256})
      rates[n].push_back(
          throughput(n == 0 ? work(turns) : work(turns).prefetch({.buffer_size = n}), burst, think, seconds));
  int64_t best = 4;
  for (const auto& [n, rate] : rates)
    if (n > 0 && median(rate) > median(rates[best])) best = n;
  report.add({.name = "tuned over the best by hand, " + name,
              .value = median(rates[0]) / median(rates[best]),
              .unit = "",
              .at_least = 0.9,
              .note = "best: prefetch(" + std::to_string(best) + ")"});
}

int run(Report& report) {
  const int64_t turns = turns_for(kWork);
  for (const int workers : report.numbers("workers", {std::min(2, cores())})) {
    configure({.workers = workers});
    const std::string with = ", " + std::to_string(workers) + " workers";
    const double pace = 1.5 * kMean / 2;  // a third to spare
    const int64_t share_of_two = std::max<int64_t>(1, turns * workers / 2);
    std::vector<double> settled, later;
    for (int round = 0; round < 3; ++round) {
      const std::vector<Slice> slices = change_pace(work(share_of_two), 2 * pace, pace, 2, 3);
      const auto from_1_s = std::ranges::find_if(slices, [](const Slice& slice) { return slice.end > 1; });
      settled.push_back(settled_after(slices));
      later.push_back(100 * wait_share({from_1_s, slices.end()}));
    }
    report.add({.name = "doubled pace, wait share from 1 s on" + with,
                .value = median(later),
                .unit = "%",
                .at_most = 100 * kMostWaiting});
    report.add({.name = "doubled pace, under 2 % of waiting after" + with,
                .value = median(settled),
                .unit = "s",
                .at_most = 1});

    const int rounds = report.quick() ? 3 : 5;
    const double seconds = report.quick() ? 0.3 : 0.8;
    compare_with_hand(report, "steady" + with, turns, 0, 0, seconds, rounds);
    const int burst = 32 * workers;
    compare_with_hand(report, "bursts" + with, turns, burst, 0.9 * burst * kMean / workers, seconds, rounds);
  }
  return report.end();
}

const Benchmark benchmark("tuning", run);

}  // namespace
}  // namespace stoker::bench
