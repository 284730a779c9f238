// Calls random public functions of random loaders from several threads, while
// user functions throw, sleep and read loaders of their own and the budget is
// small. It must neither crash, hang nor deliver a wrong element, and in the end
// nothing may be held. Run it under the sanitizers:
//   loaders [--seconds 20] [--seed N] [--threads 6]
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "stoker/stoker.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  double seconds = 20;
  uint64_t seed = std::random_device{}();
  int threads = 6;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::abort();
}

// ---- datasets whose elements can be checked: every array holds one value, and
// every tuple holds x and 2x

Result<Array> filled(int64_t x, int64_t n) {
  STOKER_TRY(Array array, Array::make({n}, DType::kInt64));
  std::ranges::fill(array.mutable_values<int64_t>(), x);
  return array;
}

Result<Element> throws_sometimes(Element e) {
  if (e[0].scalar<int64_t>() % 11 == 3) throw std::runtime_error("an unlucky number");
  return e;
}

Result<Array> sleeps(int64_t x) {
  std::this_thread::sleep_for(std::chrono::microseconds(100 + x % 7 * 300));
  return filled(x, 16);
}

Result<Array> reads_a_loader(int64_t x) {
  Loader own(Dataset::range({.stop = 5}).map({.map_func = &sleeps, .num_parallel_calls = 2}));
  int64_t rows = 0;
  while (true) {
    STOKER_TRY(const std::optional<Element> e, own.next());
    if (!e) break;
    ++rows;
  }
  return filled(x + (rows - 5), 8);
}

std::function<NextElement()> counting_generator() {
  return []() -> NextElement {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == 300) return std::optional<Element>();
      return std::optional<Element>(Element(Array::of(i++)));
    };
  };
}

std::vector<std::string> text_files(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (int i = 0; i < 8; ++i) {
    paths.push_back(folder / ("lines" + std::to_string(i) + ".txt"));
    std::ofstream file(paths.back());
    for (int line = 0; line < 100; ++line)
      file << std::string(static_cast<size_t>(20 + line), static_cast<char>('a' + i)) << '\n';
  }
  return paths;
}

std::vector<Dataset> datasets(const std::filesystem::path& folder) {
  const Dataset numbers = Dataset::range({.stop = 400});
  const std::vector<std::string> paths = text_files(folder);
  const auto both = [](Value x) { return tuple(x, x * 2); };
  return {
      numbers.map({both}).batch({.batch_size = 7}),
      numbers.map({[](int64_t x) { return filled(x, 64); }}).shuffle({.buffer_size = 50}).batch({.batch_size = 4}),
      numbers.map({&throws_sometimes}).map({both}),
      numbers.map({&throws_sometimes}).on_error({.policy = "skip"}).shuffle({}).batch({.batch_size = 3}),
      numbers.map({.map_func = &sleeps, .num_parallel_calls = 4}),
      numbers.map({&sleeps}).cache({}).repeat({.count = 2}),
      numbers.map({.map_func = &reads_a_loader, .num_parallel_calls = 3}),
      numbers.filter({[](int64_t x) { return x % 5 == 0; }})
          .map({both})
          .shuffle({.buffer_size = 9})
          .repeat({.count = 3}),
      numbers.interleave(
          {.map_func =
               [](const Element& e) {
                 const auto x = e[0].scalar<int64_t>();
                 return Dataset::range({.start = x, .stop = x + 6}).map({[](Value v) { return tuple(v, v * 2); }});
               },
           .cycle_length = 5}),
      Dataset::from_generator({.generator = counting_generator()}).map({both}).batch({.batch_size = 5}),
      Dataset::text_lines({.filenames = paths}).shuffle({.buffer_size = 20}).batch({.batch_size = 6}),
      Dataset::zip({.datasets = {numbers, numbers.map({[](Value x) { return x * 2; }})}})
          .enumerate({})
          .prefetch({.buffer_size = 20}),
  };
}

void check_same(const Array& array) {
  if (array.type() != DType::kInt64 || array.rank() != 1 || array.count() == 0) return;
  const auto values = array.values<int64_t>();
  if (array.count() >= 8 && values.front() != values.back())
    fail("an array of one value holds several: " + array.words());
}

void check(const Element& e) {
  if (e.leaves.size() == 2 && e[0].type() == DType::kInt64 && e[1].type() == DType::kInt64) {
    for (int64_t i = 0; i < e[0].count(); ++i)
      if (e[1].values<int64_t>()[static_cast<size_t>(i)] != 2 * e[0].values<int64_t>()[static_cast<size_t>(i)])
        fail("a pair does not match: " + e.words());
  } else if (e.leaves.size() == 1) {
    check_same(e[0]);
  }
}

// As a consumer does that normalizes in place.
void scribble(const Element& e) {
  for (const Array& leaf : e.leaves)
    if (leaf.type() != DType::kBytes && !leaf.is_number())
      std::memset(const_cast<void*>(leaf.raw()), 0x5a, static_cast<size_t>(leaf.byte_size()));
}

// ---- loaders that all threads use

struct Slot {
  std::mutex mutex;
  std::shared_ptr<Loader> loader;
  size_t dataset = 0;
  std::string saved;  // a checkpoint of this dataset
};

class Stress {
 public:
  Stress(const Options& options, const std::filesystem::path& folder)
      : options_(options), datasets_(datasets(folder)), slots_(8), progress_(static_cast<size_t>(options.threads)) {
    std::mt19937_64 random(options.seed);
    for (Slot& slot : slots_) replace(slot, random);
  }

  int64_t run() {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.threads; ++i)
      threads.emplace_back([this, i, until] { call_until(until, static_cast<size_t>(i)); });
    watch(until);
    for (std::thread& thread : threads) thread.join();
    int64_t calls = 0;
    for (const std::atomic<int64_t>& made : progress_) calls += made;
    for (Slot& slot : slots_) slot.loader.reset();
    datasets_.clear();  // and their caches
    for (int i = 0; memory_use().held > 0; ++i) {
      if (i == 1000) fail(std::to_string(memory_use().held) + " bytes are still held after every loader was dropped");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return calls;
  }

 private:
  // A thread that makes no call for 30 s hangs.
  void watch(Clock::time_point until) {
    std::vector<int64_t> seen(progress_.size(), -1);
    auto moved = Clock::now();
    while (Clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      bool all_moved = true;
      for (size_t i = 0; i < seen.size(); ++i) all_moved &= progress_[i] != seen[i];
      if (all_moved) {
        for (size_t i = 0; i < seen.size(); ++i) seen[i] = progress_[i];
        moved = Clock::now();
      }
      if (Clock::now() - moved > std::chrono::seconds(30)) fail("a call has not returned for 30 s");
    }
  }

  void call_until(Clock::time_point until, size_t thread) {
    std::mt19937_64 random(options_.seed * 1000 + thread);
    while (Clock::now() < until) {
      call(slots_[random() % slots_.size()], random);
      ++progress_[thread];
    }
  }

  void replace(Slot& slot, std::mt19937_64& random) {
    const size_t dataset = random() % datasets_.size();
    auto loader = std::make_shared<Loader>(datasets_[dataset], LoaderOptions{.stall_warning_seconds = 60});
    std::lock_guard lock(slot.mutex);
    if (slot.dataset != dataset) slot.saved.clear();
    slot.dataset = dataset;
    slot.loader.swap(loader);
  }

  void call(Slot& slot, std::mt19937_64& random) {
    std::shared_ptr<Loader> loader;
    std::string saved;
    {
      std::lock_guard lock(slot.mutex);
      loader = slot.loader;
      saved = slot.saved;
    }
    switch (random() % 24) {
      case 0: return loader->close();
      case 1: return replace(slot, random);
      case 2: return loader->begin_epoch();
      case 3: return save(slot, *loader);
      case 4:
        if (!saved.empty()) (void)loader->restore(saved);
        return;
      case 5: (void)loader->stats(); return;
      case 6: (void)loader->skipped(); return;
      case 7: (void)loader->wait_seconds(); return;
      case 8: return loader->release();
      case 9:
        return configure(
            {.workers = static_cast<int>(random() % 4), .memory_bytes = int64_t{1} << (16 + random() % 12)});
      case 10: (void)datasets_[random() % datasets_.size()].cardinality(); return;
      default: return pull(*loader, random() % 30);
    }
  }

  void save(Slot& slot, Loader& loader) {
    Result<std::string> saved = loader.save();
    if (!saved) return;
    std::lock_guard lock(slot.mutex);
    if (slot.loader.get() == &loader) slot.saved = *std::move(saved);
  }

  void pull(Loader& loader, uint64_t elements) {
    for (uint64_t i = 0; i < elements; ++i) {
      const Result<std::optional<Element>> next = loader.next();
      if (next && !*next) return;
      if (!next) continue;
      check(**next);
      scribble(**next);
    }
  }

  const Options options_;
  std::vector<Dataset> datasets_;
  std::vector<Slot> slots_;
  std::vector<std::atomic<int64_t>> progress_;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--threads") options.threads = std::atoi(argv[i + 1]);
  }
  return options;
}

int run(const Options& options) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("stoker-stress-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::printf("seed %llu, %d threads, %.0f s\n", static_cast<unsigned long long>(options.seed), options.threads,
              options.seconds);
  std::fflush(stdout);
  const int64_t calls = Stress(options, folder).run();
  std::filesystem::remove_all(folder);
  std::printf("%lld calls\n", static_cast<long long>(calls));
  return calls > 0 ? 0 : 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::run(stoker::parse(argc, argv)); }
