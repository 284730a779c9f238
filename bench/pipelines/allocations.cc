// How many times does a picture on its whole way from record to batch ask for memory, the engine's parts included?
// (From bytes to row it does not at all: tests/ops/picture_chain_test.cc.)
//
// The training path of `crops` on photographs packed by `stoker pack` (`--packed FOLDER`), once it runs. Counted are
// the calls of operator new in all threads. Not counted: malloc, which libjpeg has and Stoker's blocks of 4 to 64 KB.
#include <new>

#include "bench/pipelines/photographs.h"

namespace {
std::atomic<int64_t> calls{0};
}

// Not inlined: the compiler would take the pair of malloc and delete for a mistake.
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
    std::printf("  left out: --packed FOLDER has shards of stoker pack\n");
    return 0;
  }
  Loader loader(training_path(shards_in(packed)));
  for (int i = 0; i < 16; ++i) next_of(loader);
  const int64_t before = calls, batches = report.quick() ? 8 : 32;
  for (int64_t i = 0; i < batches; ++i) next_of(loader);
  report.add({.name = "allocations a picture",
              .value = static_cast<double>(calls - before) / static_cast<double>(64 * batches),
              .unit = ""});
  return report.end();
}

const Benchmark benchmark("allocations", &run);

}  // namespace
}  // namespace stoker::bench
