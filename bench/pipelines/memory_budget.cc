// Does memory stay within the budget, and does it stay constant over epochs?
//
// The budget is 64 MB and elements have 1 MB. Three loaders run at once, with
// consumers that are slower than their workers. The held bytes may exceed the
// budget by at most one element for each waiting consumer. Measured with elements
// computed by a map and with elements of a generator. Then 100 epochs of three
// loaders: compares the resident memory at the end with that of epochs 11 to 30.
#include "bench/pipelines/report.h"
#include "stoker/runtime/budget.h"

namespace stoker::bench {
namespace {

constexpr int64_t kMega = 1 << 20;
constexpr int kLoaders = 3;

Array megabyte(int64_t i) {
  Result<Array> made = Array::make({kMega}, DType::kUint8);
  if (!made) return Array::of<int64_t>(-1);  // over budget: the engine drops this result and calls again
  std::memset(made->mutable_raw(), static_cast<int>(i), kMega);
  return *std::move(made);
}

Dataset mapped(int64_t n) {
  return Dataset::range({.stop = n}).map({.map_func = [](int64_t i) { return megabyte(i); }});
}

Dataset generated(int64_t n) {
  return Dataset::from_generator({.generator = [n]() -> FromGenerator::Next {
    return [n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::optional<Element>();
      return std::optional<Element>(Element(megabyte(i++)));
    };
  }});
}

// One consumer: takes every element and pauses for `think` seconds after each.
void consume(Loader& loader, double think) {
  while (std::optional<Element> element = next_of(loader)) {
    if (element->byte_size() != kMega)
      fail("expected an element of 1 MB, got " + std::to_string(element->byte_size()) + " bytes");
    element.reset();
    if (think > 0) sleep_for(think);
  }
}

void consume_at_once(std::vector<Loader>& loaders, double think) {
  std::vector<std::thread> consumers;
  for (Loader& loader : loaders) consumers.emplace_back([&] { consume(loader, think); });
  for (std::thread& consumer : consumers) consumer.join();
}

double peak_over_budget(const Dataset& dataset, double think) {
  Budget::process().reset_peak();
  std::vector<Loader> loaders;
  for (int i = 0; i < kLoaders; ++i) loaders.emplace_back(dataset);
  consume_at_once(loaders, think);
  return static_cast<double>(memory_use().peak - memory_use().budget) / kMega;
}

int run(Report& report) {
  configure({.memory_bytes = 64 * kMega});
  const int64_t n = report.quick() ? 100 : 400;
  const std::string note = "negative: below the budget of 64 MB";
  report.add({.name = "peak over the budget, maps, slow consumers",
              .value = peak_over_budget(mapped(n), 3e-3),
              .unit = "MB",
              .at_most = kLoaders,
              .note = note});
  report.add({.name = "peak over the budget, maps, fast consumers",
              .value = peak_over_budget(mapped(n), 0),
              .unit = "MB",
              .at_most = kLoaders,
              .note = note});
  report.add({.name = "peak over the budget, generators, slow consumers",
              .value = peak_over_budget(generated(n), 3e-3),
              .unit = "MB",
              .at_most = kLoaders,
              .note = note});
  report.add({.name = "held when all are gone",
              .value = static_cast<double>(memory_use().held) / kMega,
              .unit = "MB",
              .at_most = 0});

  std::vector<Loader> loaders;
  for (int i = 0; i < kLoaders; ++i) loaders.emplace_back(mapped(40));
  std::vector<double> resident;
  for (int epoch = 0; epoch < 100; ++epoch) {
    for (Loader& loader : loaders) loader.begin_epoch();
    consume_at_once(loaders, 0.3e-3);
    resident.push_back(static_cast<double>(resident_bytes()) / kMega);
  }
  const double early = median({resident.begin() + 10, resident.begin() + 30});
  const double late = median({resident.end() - 20, resident.end()});
  report.add({.name = "resident memory, epochs 11 to 30", .value = early, .unit = "MB"});
  // Two measurements can differ by one element for each loader.
  report.add({.name = "resident memory, epochs 81 to 100", .value = late, .unit = "MB", .at_most = early + kLoaders});
  report.add({.name = "resident memory, most in any epoch", .value = most(resident), .unit = "MB"});
  return report.end();
}

const Benchmark benchmark("memory_budget", run);

}  // namespace
}  // namespace stoker::bench
