// How long does it take to compute one position of a shuffled order? "Chained" uses
// each result as the next argument, "filled" computes a range with fill(), and
// "constructed" only constructs the permutation. If n is just above a power of two, a
// position takes two steps on average.
#include "stoker/core/permutation.h"

#include <algorithm>
#include <vector>

#include <benchmark/benchmark.h>

namespace stoker {
namespace {

void chained(benchmark::State& state) {
  const Permutation permutation(1, state.range(0));
  int64_t place = 0;
  for (auto _ : state) place = permutation(place);
  benchmark::DoNotOptimize(place);
}

void filled(benchmark::State& state) {
  const Permutation permutation(1, state.range(0));
  std::vector<int64_t> order(static_cast<size_t>(std::min<int64_t>(4096, state.range(0))));
  for (auto _ : state) {
    permutation.fill(0, order);
    benchmark::DoNotOptimize(order.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(order.size()));
}

void constructed(benchmark::State& state) {
  uint64_t key = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Permutation(++key, state.range(0)));
}

BENCHMARK(chained)->Arg(16)->Arg(100)->Arg(1000000000)->Arg((1 << 30) + 1);
BENCHMARK(filled)->Arg(16)->Arg(100)->Arg(1000000000)->Arg((1 << 30) + 1);
BENCHMARK(constructed)->Arg(1000000000);

}  // namespace
}  // namespace stoker

BENCHMARK_MAIN();
