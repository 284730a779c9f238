// How much time does a watch add to a step? It reads the clock twice, takes locks
// and checks batches for non-finite values. On two cores of an EPYC it adds 0.1 µs
// of CPU time, and in the first window 19 µs for a batch of 1 MB.
#include "stoker/watch/watch.h"

#include <benchmark/benchmark.h>

namespace stoker {
namespace {

Watch::Make batches(int64_t bytes) {
  Array batch = Array::make({bytes / 4}, DType::kFloat32).value();
  for (float& value : batch.mutable_values<float>()) value = 0.5f;
  return [batch]() -> Result<std::optional<Element>> { return std::optional(Element(batch)); };
}

void make_alone(benchmark::State& state) {
  const Watch::Make make = batches(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(make());
}
BENCHMARK(make_alone)->Arg(1 << 10);

// The first window, in which every batch is checked.
void watched_at_first(benchmark::State& state) {
  Watch watch(batches(state.range(0)), {.window_seconds = 1e9});
  for (auto _ : state) benchmark::DoNotOptimize(watch.next());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(watched_at_first)->Arg(1 << 10)->Arg(1 << 20)->Arg(1 << 25);

void watched_later(benchmark::State& state) {
  Watch watch(batches(state.range(0)), {.window_seconds = 0, .on_message = [](const std::string&) {}});
  for (int i = 0; i < 200; ++i) (void)watch.next();
  for (auto _ : state) benchmark::DoNotOptimize(watch.next());
}
BENCHMARK(watched_later)->Arg(1 << 10)->Arg(1 << 20)->Arg(1 << 25);

}  // namespace
}  // namespace stoker

BENCHMARK_MAIN();
