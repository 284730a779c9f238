// How many allocations does an image cause on its path from record to batch, including those of the engine?
// (The step from encoded bytes to a row of the batch causes none: tests/ops/image_chain_test.cc.)
//
// Runs the training pipeline of `crops` on photographs packed by `stoker pack` (`--packed FOLDER`), and counts the
// calls of operator new in all threads after a warm-up. Direct calls of malloc are not counted: libjpeg makes them, and
// Stoker for blocks of 4 to 64 KB.
#include <new>

#include "bench/pipelines/photographs.h"

namespace {
std::atomic<int64_t> calls{0};
}

// Not inlined: the compiler would warn about the pair of malloc and delete.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stoker::bench {
namespace {

int run(Report& report) {
  const std::string packed = report.text("packed", "");
  if (packed.empty()) {
    std::printf("  skipped: requires --packed FOLDER, with shards that stoker pack wrote\n");
    return 0;
  }
  Loader loader(training_path(shards_in(packed)));
  for (int i = 0; i < 16; ++i) next_of(loader);
  const int64_t before = calls, batches = report.quick() ? 8 : 32;
  for (int64_t i = 0; i < batches; ++i) next_of(loader);
  report.add({.name = "allocations per image",
              .value = static_cast<double>(calls - before) / static_cast<double>(64 * batches),
              .unit = ""});
  return report.end();
}

const Benchmark benchmark("allocations", &run);

}  // namespace
}  // namespace stoker::bench
