// What is the engine's overhead per element if there is almost no work?
//
// range(10^7) → map(x·2+1) → batch(1024) on one worker and the consumer's thread.
// The map is an expression, a C++ function on numbers, and a struct with
// apply(Element). Wall time is measured on the consumer's thread, CPU time over all
// threads. "Alone" is without workers: everything runs on one thread.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

struct TwicePlusOne {
  static constexpr std::string_view kName = "twice_plus_one";
  static constexpr std::string_view kDoc = "Doubles a number and adds one.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const {
    return Element(Array::of<int64_t>(element.leaves[0].scalar<int64_t>() * 2 + 1));
  }
};

struct Case {
  std::string name;
  double at_most;
  Dataset dataset;
  std::vector<double> wall = {}, cpu = {}, alone = {};
};

void check(const Dataset& dataset) {
  Loader loader(dataset);
  const std::optional<Element> first = next_of(loader);
  if (!first || first->leaves[0].values<int64_t>()[5] != 11) fail("the map returned wrong numbers");
}

int run(Report& report) {
  const int64_t n = report.quick() ? 1'000'000 : 10'000'000;
  const int rounds = report.quick() ? 3 : 7;
  const Dataset range = Dataset::range({.stop = n});

  std::vector<Case> cases;
  cases.push_back({"symbolic map", 10, range.map({.map_func = [](Value x) { return x * 2 + 1; }})});
  cases.push_back({"typed map", 10, range.map({.map_func = [](int64_t x) { return x * 2 + 1; }})});
  cases.push_back({"apply(Element)", 60, range.then(TwicePlusOne{})});
  for (Case& one : cases) {
    one.dataset = one.dataset.batch({.batch_size = 1024});
    check(one.dataset);
  }

  const auto each = [&](double seconds) { return seconds / static_cast<double>(n) * 1e9; };
  for (int round = 0; round < rounds; ++round)
    for (Case& one : cases) {
      configure({.workers = 1});
      Loader loader(one.dataset);
      const double cpu = cpu_now();
      one.wall.push_back(each(seconds_of([&] { drain(loader); })));
      one.cpu.push_back(each(cpu_now() - cpu));
      configure({.workers = 0});
      Loader alone(one.dataset);
      one.alone.push_back(each(seconds_of([&] { drain(alone); })));
    }
  for (const Case& one : cases) {
    report.add(
        {.name = one.name + ", one worker, wall", .value = median(one.wall), .unit = "ns", .at_most = one.at_most});
    report.add({.name = one.name + ", one worker, CPU of all threads", .value = median(one.cpu), .unit = "ns"});
    report.add({.name = one.name + ", alone", .value = median(one.alone), .unit = "ns"});
  }
  return report.end();
}

const Benchmark benchmark("per_element", run);

}  // namespace
}  // namespace stoker::bench
