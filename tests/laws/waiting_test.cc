// Functions that wait for each other or for a loader of their own: no wake-up is lost,
// no two threads wait for each other, and threads are reused.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "stoker/runtime/pool.h"
#include "support/gate.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

Values first_numbers(int64_t n) {
  Values all(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}

// ---- functions that wait for one another

// Calls wait in groups of `size`, by their numbers, until the last call of their group
// has started. Numbers below `from` do not wait.
struct Meeting {
  int64_t n = 24;
  int64_t size = 2;
  int64_t from = 0;
};

class Meetings {
 public:
  explicit Meetings(Meeting meeting) : meeting_(meeting), came_(static_cast<size_t>(meeting.n / meeting.size + 1), 0) {}
  void come(int64_t number) {
    if (number < meeting_.from) return;
    std::unique_lock lock(mutex_);
    int64_t& came = came_[static_cast<size_t>(number / meeting_.size)];
    ++came;
    all_here_.notify_all();
    all_here_.wait(lock, [&] { return came >= meeting_.size; });
  }

 private:
  const Meeting meeting_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<int64_t> came_;
};

Dataset meeting(Meeting meeting, std::optional<int64_t> parallel) {
  return numbers(meeting.n).map({.map_func =
                                     [meetings = std::make_shared<Meetings>(meeting)](int64_t x) {
                                       meetings->come(x);
                                       return x;
                                     },
                                 .num_parallel_calls = parallel});
}

class WaitingCalls : public testing::TestWithParam<int> {
 protected:
  WatchScope watch_{"calls that wait for one another, " + std::to_string(GetParam()) + " workers"};
  WithResources here_{{.workers = GetParam(), .memory_bytes = int64_t{1} << 24}};
};
INSTANTIATE_TEST_SUITE_P(Workers, WaitingCalls, testing::Values(1, 2, 3));

// Calls begin in order, except those whose input a worker is computing: each of these
// may leave one group incomplete. Four calls at once are enough for pairs with three
// workers.

// Only if the user set num_parallel_calls; otherwise, short calls run one after the
// other.
TEST_P(WaitingCalls, RunConcurrentlyOnceTheFirstHasReturned) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values(meeting({.from = 4}, 4).batch({.batch_size = 1})), first_numbers(24));
}

TEST_P(WaitingCalls, RunAsManyAtOnceAsAllowed) {
  const int64_t parallel = 4 + 3 * GetParam();
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(values(meeting({.size = 4, .from = 4}, parallel).batch({.batch_size = 1})), first_numbers(24));
}

TEST_P(WaitingCalls, RunConcurrentlyInEveryEpoch) {
  // A call waits for those of its own epoch.
  auto epochs = std::make_shared<std::vector<std::unique_ptr<Meetings>>>();
  for (int i = 0; i < 12; ++i) epochs->push_back(std::make_unique<Meetings>(Meeting{.n = 16, .from = 4}));
  auto calls = std::make_shared<std::vector<std::atomic<int>>>(16);
  Loader loader(numbers(16)
                    .map({.map_func =
                              [epochs, calls](int64_t x) {
                                const auto epoch = static_cast<size_t>((*calls)[static_cast<size_t>(x)]++);
                                if (epoch < epochs->size()) (*epochs)[epoch]->come(x);
                                return x;
                              },
                          .num_parallel_calls = 4})
                    .batch({.batch_size = 1}));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(text_of_rest(loader).size(), 16u);
    loader.begin_epoch();
  }
}

TEST_P(WaitingCalls, RunConcurrentlyFromTheFirstOn) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(values(meeting({}, 4).batch({.batch_size = 1})), first_numbers(24));
}

TEST_P(WaitingCalls, RunConcurrentlyUpstreamOfABatch) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(values(meeting({.from = 4}, 4).batch({.batch_size = 4})), first_numbers(24));
}

// A function that waits for a lock once does not count as one that sleeps, whose calls
// the engine makes row by row from then on.
TEST_P(WaitingCalls, ThatWaitedOnceContinueInRuns) {
  constexpr int64_t kCalls = 1'000'000;
  auto gate = std::make_shared<Gate>();
  Loader loader(numbers(kCalls)
                    .map({.map_func =
                              [gate](int64_t x) {
                                if (x == 50) gate->pass();
                                return x;
                              }})
                    .batch({.batch_size = 1000})
                    .prefetch({.buffer_size = 4}));
  std::thread opener([gate] {
    gate->wait_for(1);
    gate->open();
  });
  EXPECT_EQ(text_of_rest(loader).size(), static_cast<size_t>(kCalls / 1000));
  opener.join();
  for (const StageStats& stage : loader.stats().stages) {
    if (stage.stage != "map") continue;
    EXPECT_LT(stage.runs, kCalls);
  }
}

// Short calls are made in runs. A call that waits must not be in the same run as a later
// call that it waits for.
TEST_P(WaitingCalls, AreNotQueuedInOneRun) {
  auto gate = std::make_shared<Gate>();
  const Dataset ds = numbers(1000).map({.map_func =
                                            [gate](int64_t x) {
                                              if (x == 900) gate->pass();
                                              if (x == 901) gate->open();
                                              return x;
                                            },
                                        .num_parallel_calls = 4});
  EXPECT_EQ(values(ds.batch({.batch_size = 10})), first_numbers(1000));
}

// ---- a loader inside a function

struct NestedCase {
  int workers;
  int64_t memory_bytes;
};
std::ostream& operator<<(std::ostream& out, const NestedCase& c) {
  return out << c.workers << " workers, " << c.memory_bytes << " bytes";
}

class Nested : public testing::TestWithParam<NestedCase> {
 protected:
  WatchScope watch_{"a loader inside a function, " + testing::PrintToString(GetParam())};
  WithResources here_{{.workers = GetParam().workers, .memory_bytes = GetParam().memory_bytes}};
};
INSTANTIATE_TEST_SUITE_P(Places, Nested,
                         testing::Values(NestedCase{0, 1 << 24}, NestedCase{1, 1 << 24}, NestedCase{2, 1 << 24},
                                         NestedCase{0, 1}, NestedCase{1, 1}, NestedCase{2, 1}, NestedCase{1, 1000},
                                         NestedCase{2, 1000}));

int64_t sum(const Dataset& dataset) {
  int64_t all = 0;
  for (const int64_t x : values(dataset)) all += x;
  return all;
}

// 0 + 1 + … + x - 1, by a pipeline with functions of its own.
int64_t summed_below(int64_t x) {
  return sum(numbers(x).map({.map_func = [](int64_t y) { return y; }}).batch({.batch_size = 2}));
}

TEST_P(Nested, RunsInAMap) {
  const Dataset ds = numbers(12).map({.map_func = summed_below}).batch({.batch_size = 5});
  EXPECT_EQ(values(ds), (Values{0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55}));
}

TEST_P(Nested, RunsInAMapOfOneCallAtATime) {
  EXPECT_EQ(values(numbers(6).map({.map_func = summed_below, .num_parallel_calls = 1})), (Values{0, 0, 1, 3, 6, 10}));
}

TEST_P(Nested, RunsThreeDeep) {
  const auto outer = [](int64_t x) { return sum(numbers(x).map({.map_func = summed_below})); };
  EXPECT_EQ(values(numbers(7).map({.map_func = outer})), (Values{0, 0, 0, 1, 4, 10, 20}));
}

TEST_P(Nested, RunsInAFilter) {
  EXPECT_EQ(values(numbers(6).filter({.predicate = [](int64_t x) { return summed_below(x) > 2; }})), (Values{3, 4, 5}));
}

TEST_P(Nested, RunsInAGenerator) {
  const Dataset ds = Dataset::from_generator({.generator = [] {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == 4) return std::optional<Element>();
      return std::optional<Element>(Element(Array::of<int64_t>(summed_below(i++))));
    };
  }});
  EXPECT_EQ(values(ds.batch({.batch_size = 3})), (Values{0, 0, 1, 3}));
}

TEST_P(Nested, RunsInAFunctionOfFlatMap) {
  const Dataset ds = numbers(4).flat_map(
      {.map_func = [](const Element& e) { return numbers(summed_below(e.leaves[0].scalar<int64_t>())); }});
  EXPECT_EQ(values(ds), (Values{0, 0, 1, 2}));
}

TEST_P(Nested, MayBeOneLoaderForAllCalls) {
  auto loader = std::make_shared<Loader>(
      numbers(3).map({.map_func = [](int64_t x) { return x + 1; }}).repeat({.count = 100}).batch({.batch_size = 3}));
  auto mutex = std::make_shared<std::mutex>();
  const Dataset ds = numbers(40).map({.map_func = [loader, mutex](int64_t) -> Result<int64_t> {
    std::lock_guard lock(*mutex);
    STOKER_TRY(std::optional<Element> next, loader->next());
    return next ? next->leaves[0].count() : 0;
  }});
  EXPECT_EQ(sum(ds), 120);
}

TEST_P(Nested, MayStopBeforeTheEnd) {
  const Dataset ds = numbers(20).map({.map_func = [](int64_t x) -> Result<int64_t> {
    Loader loader(Dataset::counter({.start = x}).map({.map_func = [](int64_t y) { return y; }}));
    STOKER_TRY(std::optional<Element> next, loader.next());
    return next->leaves[0].scalar<int64_t>();
  }});
  EXPECT_EQ(values(ds), first_numbers(20));
}

TEST_P(Nested, IsReleasedWhenTheOuterLoaderIsDropped) {
  auto token = std::make_shared<int>(0);
  for (int i = 0; i < 5; ++i) {
    Loader loader(numbers(20).map({.map_func = [token](int64_t x) { return summed_below(x); }}));
    EXPECT_EQ(text_of_rest(loader, i).size(), static_cast<size_t>(i));
  }
  while (token.use_count() > 1) std::this_thread::yield();
}

// ---- threads

std::set<int> threads_of_process() {
  std::set<int> all;
  std::error_code gone;  // a thread that ends while we look
  for (std::filesystem::directory_iterator at("/proc/self/task", gone), end; !gone && at != end; at.increment(gone))
    all.insert(std::stoi(at->path().filename().string()));
  return all;
}

// Threads that the pool does not count: the consumer, the monitor, the tests'
// own, and for a moment one that is about to end.
int64_t threads_beside_the_pool() {
  return static_cast<int64_t>(threads_of_process().size()) - Pool::process().threads();
}

struct EpochCase {
  std::string name;
  std::function<Dataset(const TempDir&)> make;
};
std::ostream& operator<<(std::ostream& out, const EpochCase& c) { return out << c.name; }

// The threads that run the functions below.
struct Callers {
  std::mutex mutex;
  std::set<int> all;
  void note() {
    std::lock_guard lock(mutex);
    all.insert(gettid());
  }
  void clear() {
    std::lock_guard lock(mutex);
    all.clear();
  }
};
Callers& callers() {
  static auto* one = new Callers;
  return *one;
}
int64_t noted(int64_t x) {
  callers().note();
  return x;
}

std::vector<EpochCase> epoch_cases() {
  return {
      {"native", [](const TempDir&) { return numbers(200).map({.map_func = [](Value x) { return x + 1; }}); }},
      {"callable", [](const TempDir&) { return numbers(200).map({.map_func = noted}).batch({.batch_size = 7}); }},
      {"generator",
       [](const TempDir&) {
         return Dataset::from_generator({.generator = [] {
           return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
             if (i == 20) return std::optional<Element>();
             return std::optional<Element>(Element(Array::of<int64_t>(noted(i++))));
           };
         }});
       }},
      {"file",
       [](const TempDir& dir) {
         return Dataset::text_lines({.filenames = {dir.write("lines", "a\nb\nc\nd\n")}}).batch({.batch_size = 2});
       }},
      {"children",
       [](const TempDir&) {
         return numbers(8).interleave(
             {.map_func = [](const Element&) { return numbers(5).map({.map_func = noted}); }, .cycle_length = 3});
       }},
      {"repeated",
       [](const TempDir&) {
         return numbers(20).map({.map_func = noted}).shuffle({.buffer_size = 5, .seed = 1}).repeat({.count = 3});
       }},
  };
}

// ---- priorities

int nice_of_this_thread() { return getpriority(PRIO_PROCESS, 0); }

// If all processors are busy, the training loop has the highest priority, and reads have a higher priority than work.
TEST(Priorities, WorkersAreBelowTheLoopAndReadersAreNot) {
  const int loop = nice_of_this_thread();
  if (loop == 19) GTEST_SKIP() << "these tests run at the lowest priority already";
  WithResources here({.workers = 2, .memory_bytes = int64_t{1} << 24});
  const Dataset read = numbers(32).interleave({.map_func =
                                                   [](const Element&) {
                                                     return Dataset::from_generator({.generator = [] {
                                                       return [i = 0]() mutable -> Result<std::optional<Element>> {
                                                         if (i++ == 20) return std::optional<Element>();
                                                         return std::optional<Element>(
                                                             Element(Array::of<int64_t>(nice_of_this_thread())));
                                                       };
                                                     }});
                                                   },
                                               .cycle_length = 16});
  for (const int64_t reader : values(read.map({.map_func = [](int64_t nice) { return nice; }})))
    EXPECT_EQ(reader, loop);
  for (const int64_t worker :
       values(numbers(20).map({.map_func = [](int64_t) { return int64_t{nice_of_this_thread()}; }})))
    EXPECT_GT(worker, loop);
}

// A worker that is inside a call when `workers` is set to 0 exits after this call. It starts no call of another loader.
TEST(WithoutWorkers, EveryCallRunsOnTheConsumersThread) {
  const WatchScope watch("a worker that is busy when workers is set to 0");
  const WithResources one({.workers = 1, .memory_bytes = int64_t{1} << 24});
  std::atomic<bool> is_busy{false}, may_return{false};
  Loader busy(numbers(1).map({.map_func = [&](int64_t x) {
    is_busy = true;
    while (!may_return) std::this_thread::yield();  // a call that sleeps would be moved to a waiting thread
    return x;
  }}));
  std::thread other([&] { EXPECT_EQ(text_of_rest(busy).size(), 1u); });
  while (!is_busy) std::this_thread::yield();
  const WithResources none({.workers = 0, .memory_bytes = int64_t{1} << 24});
  const int threads_before = Pool::process().threads();
  std::atomic<int64_t> elsewhere{0};
  const int consumer = gettid();
  const Dataset ds = numbers(8).map({.map_func = [&](int64_t x) {
    if (gettid() != consumer) ++elsewhere;
    may_return = true;
    while (elsewhere == 0 && Pool::process().threads() == threads_before) std::this_thread::yield();
    return x;
  }});
  EXPECT_EQ(values(ds), first_numbers(8));
  EXPECT_EQ(elsewhere, 0);
  other.join();
}

class Threads : public testing::TestWithParam<EpochCase> {
 protected:
  WatchScope watch_{"threads over many epochs, " + GetParam().name};
};
INSTANTIATE_TEST_SUITE_P(Every, Threads, testing::ValuesIn(epoch_cases()),
                         [](const auto& info) { return info.param.name; });

// Workers, the monitor and the first waiting threads exist after three epochs. After
// that, the engine may start at most 64 waiting threads, which end after ten idle
// seconds, and sometimes a worker that replaces one found waiting. The test runs more
// epochs than that, to detect a thread for each epoch. A thread disappears from /proc
// shortly after the pool stops counting it, so the test repeats a count that is too high
// until the watch ends it.
TEST_P(Threads, AreReusedInEveryEpoch) {
  constexpr int kEpochs = 200;
  constexpr size_t kMost = 64 + 8;
  TempDir dir;
  WithResources here({.workers = 2, .memory_bytes = int64_t{1} << 24});
  callers().clear();
  Loader loader(GetParam().make(dir));
  int64_t beside = 0;
  std::set<int> before, seen;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    SCOPED_TRACE(epoch);
    EXPECT_GT(text_of_rest(loader).size(), 0u);
    loader.begin_epoch();
    if (epoch < 2) continue;
    if (epoch == 2) {
      beside = threads_beside_the_pool();
      before = threads_of_process();
      continue;
    }
    while (threads_beside_the_pool() > beside) std::this_thread::yield();
    seen.merge(threads_of_process());
  }
  loader.close();
  seen.merge(callers().all);
  std::erase_if(seen, [&](int thread) { return before.contains(thread); });
  EXPECT_LE(seen.size(), kMost) << "threads that were not there after three epochs";
}

}  // namespace
}  // namespace stoker
