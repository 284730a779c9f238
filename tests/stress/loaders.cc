// Stress test: calls random public functions of random loaders from several threads,
// while user functions throw, sleep and iterate loaders of their own, with a small
// memory budget. The test fails on a crash, a hang, a wrong element or an unexpected
// error, and if memory is still held at the end. Run it under the sanitizers:
//   loaders [--seconds 20] [--seed N] [--threads 6]
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
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

// ---- functions whose results can be checked

constexpr int64_t kNumbers = 400;
constexpr int64_t kLines = 100;  // of each file

bool is_unlucky(int64_t x) { return x % 11 == 3; }

Result<Array> filled(int64_t x, int64_t n) {
  STOKER_TRY(Array array, Array::make({n}, DType::kInt64));
  std::ranges::fill(array.mutable_values<int64_t>(), x);
  return array;
}

Result<Element> throws_sometimes(Element e) {
  if (is_unlucky(e[0].scalar<int64_t>())) throw std::runtime_error("an unlucky number");
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
    for (int line = 0; line < kLines; ++line)
      file << std::string(static_cast<size_t>(20 + line), static_cast<char>('a' + i)) << '\n';
  }
  return paths;
}

// ---- checks of the delivered elements

using Check = std::function<bool(const Element&)>;

bool is_number(int64_t x) { return x >= 0 && x < kNumbers; }

bool holds_numbers(const Array& array) {
  return array.type() == DType::kInt64 && array.count() > 0 && std::ranges::all_of(array.values<int64_t>(), is_number);
}

// x and 2x: numbers, or batches of up to `rows` of them.
Check pairs(int64_t rows, std::function<bool(int64_t)> is_expected = is_number) {
  return [=](const Element& e) {
    if (e.leaves.size() != 2 || e[0].type() != DType::kInt64 || e[1].type() != DType::kInt64) return false;
    if (!std::ranges::equal(e[0].shape(), e[1].shape()) || e[0].rank() != (rows == 1 ? 0 : 1)) return false;
    if (e[0].count() < 1 || e[0].count() > rows) return false;
    const auto x = e[0].values<int64_t>();
    return std::ranges::all_of(x, is_expected) &&
           std::ranges::equal(x, e[1].values<int64_t>(), {}, [](int64_t value) { return 2 * value; });
  };
}

// Batches of up to `rows` numbers.
Check lucky_numbers(int64_t rows) {
  return [=](const Element& e) {
    return e.leaves.size() == 1 && e[0].rank() == 1 && e[0].count() <= rows && holds_numbers(e[0]) &&
           std::ranges::none_of(e[0].values<int64_t>(), is_unlucky);
  };
}

// `n` times the same number, or a batch of up to `rows` such arrays.
Check filled_arrays(int64_t n, int64_t rows = 1) {
  return [=](const Element& e) {
    if (e.leaves.size() != 1 || e[0].rank() != (rows == 1 ? 1 : 2) || e[0].shape().back() != n) return false;
    if (e[0].count() > rows * n || !holds_numbers(e[0])) return false;
    const auto values = e[0].values<int64_t>();
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != values[i - i % static_cast<size_t>(n)]) return false;
    return true;
  };
}

// Batches of up to `rows` lines of text_files().
Check text(int64_t rows) {
  return [=](const Element& e) {
    if (e.leaves.size() != 1 || e[0].type() != DType::kBytes || e[0].rank() != 1) return false;
    for (int64_t i = 0; i < e[0].count(); ++i) {
      const std::string_view line = e[0].bytes_at(i);
      if (line.size() < 20 || line.size() >= 20 + kLines || line[0] < 'a' || line[0] > 'h') return false;
      if (line.find_first_not_of(line[0]) != std::string_view::npos) return false;
    }
    return e[0].count() >= 1 && e[0].count() <= rows;
  };
}

// (x, (x, 2x)): a number enumerated with itself and its double.
bool is_enumerated(const Element& e) {
  if (e.leaves.size() != 3) return false;
  const auto i = e.leaves[0].scalar<int64_t>();
  return is_number(i) && e.leaves[1].scalar<int64_t>() == i && e.leaves[2].scalar<int64_t>() == 2 * i;
}

struct Checked {
  Dataset dataset;
  Check check;
  bool delivers_errors = false;  // those of throws_sometimes()
};

std::vector<Checked> datasets(const std::filesystem::path& folder) {
  const Dataset numbers = Dataset::range({.stop = kNumbers});
  const std::vector<std::string> paths = text_files(folder);
  const auto both = [](Value x) { return tuple(x, x * 2); };
  return {
      {numbers.map({both}).batch({.batch_size = 7}), pairs(7)},
      {numbers.map({[](int64_t x) { return filled(x, 64); }}).shuffle({.buffer_size = 50}).batch({.batch_size = 4}),
       filled_arrays(64, 4)},
      {numbers.map({&throws_sometimes}).map({both}), pairs(1, [](int64_t x) { return is_number(x) && !is_unlucky(x); }),
       true},
      {numbers.map({&throws_sometimes}).on_error({.policy = "skip"}).shuffle({}).batch({.batch_size = 3}),
       lucky_numbers(3)},
      {numbers.map({.map_func = &sleeps, .num_parallel_calls = 4}), filled_arrays(16)},
      {numbers.map({&sleeps}).cache({}).repeat({.count = 2}), filled_arrays(16)},
      {numbers.map({.map_func = &reads_a_loader, .num_parallel_calls = 3}), filled_arrays(8)},
      {numbers.filter({[](int64_t x) { return x % 5 == 0; }})
           .map({both})
           .shuffle({.buffer_size = 9})
           .repeat({.count = 3}),
       pairs(1, [](int64_t x) { return is_number(x) && x % 5 == 0; })},
      {numbers.interleave({.map_func =
                               [](const Element& e) {
                                 const auto x = e[0].scalar<int64_t>();
                                 return Dataset::range({.start = x, .stop = x + 6}).map({[](Value v) {
                                   return tuple(v, v * 2);
                                 }});
                               },
                           .cycle_length = 5}),
       pairs(1, [](int64_t x) { return x >= 0 && x < kNumbers + 5; })},
      {Dataset::from_generator({.generator = counting_generator()}).map({both}).batch({.batch_size = 5}),
       pairs(5, [](int64_t x) { return x >= 0 && x < 300; })},
      {Dataset::text_lines({.filenames = paths}).shuffle({.buffer_size = 20}).batch({.batch_size = 6}), text(6)},
      {Dataset::zip({.datasets = {numbers, numbers.map({[](Value x) { return x * 2; }})}})
           .enumerate({})
           .prefetch({.buffer_size = 20}),
       &is_enumerated},
  };
}

// Expected errors: a small budget is exceeded, or throws_sometimes() throws.
bool is_expected(const Error& error, bool throws) {
  if (error.code() == Code::kResourceExhausted) return true;
  return throws && error.message().find("an unlucky number") != std::string::npos;
}

// Writes into the arrays, as a consumer that normalizes in place does.
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

// The current call of one thread, read by the thread that checks for hangs.
struct Calls {
  std::atomic<const char*> current = "no call yet";
  std::atomic<size_t> dataset = 0;
  std::atomic<int64_t> made = 0;
  std::atomic<bool> ended = false;

  void begin(const char* call) {
    current = call;
    ++made;
  }
};

class Stress {
 public:
  Stress(const Options& options, const std::filesystem::path& folder)
      : options_(options), datasets_(datasets(folder)), slots_(8), calls_(static_cast<size_t>(options.threads)) {
    std::mt19937_64 random(options.seed);
    for (Slot& slot : slots_) replace(slot, random);
  }

  int64_t run() {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    std::vector<std::thread> threads;
    for (Calls& calls : calls_) threads.emplace_back([this, &calls, until] { call_until(until, calls); });
    watch();
    for (std::thread& thread : threads) thread.join();
    int64_t made = 0;
    for (const Calls& calls : calls_) made += calls.made;
    for (Slot& slot : slots_) slot.loader.reset();
    datasets_.clear();  // and their caches
    for (int i = 0; memory_use().held > 0; ++i) {
      if (i == 1000) fail(std::to_string(memory_use().held) + " bytes are still held after every loader was dropped");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (delivered_ == 0) fail("no element was delivered");
    return made;
  }

 private:
  // Returns when every thread has ended. A call that does not return within 30 s
  // fails the program.
  void watch() {
    std::vector<int64_t> seen(calls_.size(), -1);
    std::vector<Clock::time_point> moved(calls_.size(), Clock::now());
    while (!std::ranges::all_of(calls_, [](const Calls& calls) { return calls.ended.load(); })) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (size_t i = 0; i < calls_.size(); ++i) {
        if (calls_[i].ended || calls_[i].made != seen[i]) {
          seen[i] = calls_[i].made;
          moved[i] = Clock::now();
        } else if (Clock::now() - moved[i] > std::chrono::seconds(30)) {
          fail("thread " + std::to_string(i) + ": " + calls_[i].current.load() + " on dataset " +
               std::to_string(calls_[i].dataset) + " has not returned for 30 s");
        }
      }
    }
  }

  void call_until(Clock::time_point until, Calls& calls) {
    std::mt19937_64 random(options_.seed * 1000 + static_cast<uint64_t>(&calls - calls_.data()));
    while (Clock::now() < until) call(slots_[random() % slots_.size()], calls, random);
    calls.ended = true;
  }

  void replace(Slot& slot, std::mt19937_64& random) {
    const size_t dataset = random() % datasets_.size();
    auto loader = std::make_shared<Loader>(datasets_[dataset].dataset, LoaderOptions{.stall_warning_seconds = 60});
    std::lock_guard lock(slot.mutex);
    if (slot.dataset != dataset) slot.saved.clear();
    slot.dataset = dataset;
    slot.loader.swap(loader);
  }

  void call(Slot& slot, Calls& calls, std::mt19937_64& random) {
    std::shared_ptr<Loader> loader;
    std::string saved;
    size_t dataset = 0;
    {
      std::lock_guard lock(slot.mutex);
      loader = slot.loader;
      saved = slot.saved;
      dataset = slot.dataset;
    }
    calls.dataset = dataset;
    switch (random() % 24) {
      case 0: calls.begin("close()"); return loader->close();
      case 1: calls.begin("a new loader"); return replace(slot, random);
      case 2: calls.begin("begin_epoch()"); return loader->begin_epoch();
      case 3: calls.begin("save()"); return save(slot, *loader);
      case 4: calls.begin("restore()"); return restore(*loader, saved);
      case 5:
        calls.begin("stats()");
        (void)loader->stats();
        return;
      case 6:
        calls.begin("skipped()");
        (void)loader->skipped();
        return;
      case 7:
        calls.begin("wait_seconds()");
        (void)loader->wait_seconds();
        return;
      case 8: calls.begin("release()"); return loader->release();
      case 9:
        calls.begin("configure()");
        return configure(
            {.workers = static_cast<int>(random() % 4), .memory_bytes = int64_t{1} << (16 + random() % 12)});
      case 10:
        calls.begin("cardinality()");
        (void)datasets_[dataset].dataset.cardinality();
        return;
      default: return pull(*loader, datasets_[dataset], calls, random() % 30);
    }
  }

  void save(Slot& slot, Loader& loader) {
    Result<std::string> saved = loader.save();
    if (!saved) return expect_closed("save()", saved.error());
    std::lock_guard lock(slot.mutex);
    if (slot.loader.get() == &loader) slot.saved = *std::move(saved);
  }

  void restore(Loader& loader, const std::string& saved) {
    if (saved.empty()) return;
    const Result<void> restored = loader.restore(saved);
    if (!restored && restored.error().code() != Code::kResourceExhausted) expect_closed("restore()", restored.error());
  }

  static void expect_closed(const std::string& call, const Error& error) {
    if (error.code() != Code::kFailedPrecondition || error.message().find("closed") == std::string::npos)
      fail(call + ": " + error.describe());
  }

  void pull(Loader& loader, const Checked& checked, Calls& calls, uint64_t elements) {
    for (uint64_t i = 0; i < elements; ++i) {
      calls.begin("next()");
      const Result<std::optional<Element>> next = loader.next();
      const std::string where = "dataset " + std::to_string(calls.dataset) + ": ";
      if (!next) {
        if (!is_expected(next.error(), checked.delivers_errors)) fail(where + next.error().describe());
        continue;
      }
      if (!*next) return;
      if (!checked.check(**next)) fail(where + "a wrong element: " + (*next)->describe());
      scribble(**next);
      ++delivered_;
    }
  }

  const Options options_;
  std::vector<Checked> datasets_;
  std::vector<Slot> slots_;
  std::vector<Calls> calls_;
  std::atomic<int64_t> delivered_ = 0;
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
