// Every member of a loader may be called while other threads are inside next():
// each element is whole, each call returns, and the loader is usable afterward.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

constexpr int64_t kElements = 500;
constexpr int64_t kSides = 64;

// Arrays that hold one number each: 0, 1, …
Dataset arrays(int64_t n = kElements) {
  return numbers(n).map({[](int64_t x) -> Result<Array> {
    STOKER_TRY(Array array, Array::make({kSides}, DType::kInt64));
    std::ranges::fill(array.mutable_values<int64_t>(), x);
    return array;
  }});
}

// The number of an element; -1 if its values differ.
int64_t number_of(const Element& element) {
  const auto values = element[0].values<int64_t>();
  const bool whole = values.size() == kSides && std::ranges::count(values, values[0]) == kSides;
  return whole ? values[0] : -1;
}

// The numbers of the remaining elements of a loader. An error fails the test.
Values rest_of(Loader& loader) {
  Values all;
  while (true) {
    const Result<std::optional<Element>> next = loader.next();
    EXPECT_TRUE(next.ok()) << next.error().describe();
    if (!next || !*next) return all;
    all.push_back(number_of(**next));
  }
}

Values numbers_from(int64_t first) {
  Values all;
  for (int64_t i = first; i < kElements; ++i) all.push_back(i);
  return all;
}

// Threads that call next() until finish(), also at the end of an epoch.
class Readers {
 public:
  explicit Readers(Loader& loader) {
    for (std::thread& thread : threads_)
      thread = std::thread([this, &loader] {
        while (!stop_) read(loader);
      });
  }
  // Repeats a call. After every second call, waits until an element has arrived.
  void call(int times, const std::function<void()>& beside) {
    for (int i = 0; i < times; ++i) {
      const int before = delivered_;
      beside();
      if (i % 2 == 0) delivered_.wait(before);
    }
  }
  void finish() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    EXPECT_EQ(failed_, 0);
    EXPECT_EQ(torn_, 0);
  }

 private:
  void read(Loader& loader) {
    const Result<std::optional<Element>> next = loader.next();
    if (!next) ++failed_;
    if (!next || !*next) return;
    if (number_of(**next) < 0) ++torn_;
    ++delivered_;
    delivered_.notify_all();
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int> failed_ = 0;
  std::atomic<int> torn_ = 0;
  std::atomic<int> delivered_ = 0;
  std::array<std::thread, 3> threads_;
};

class ConcurrentCalls : public testing::TestWithParam<int> {
 protected:
  WatchScope watch_{"calls during next()"};
  WithResources here_{{.workers = GetParam(), .memory_bytes = int64_t{1} << 24}};
};
INSTANTIATE_TEST_SUITE_P(Workers, ConcurrentCalls, testing::Values(0, 1, 3));

TEST_P(ConcurrentCalls, EachElementGoesToOneThread) {
  Loader loader(arrays());
  std::vector<Values> read(3);
  std::vector<std::thread> threads;
  for (Values& mine : read) threads.emplace_back([&] { mine = rest_of(loader); });
  for (std::thread& thread : threads) thread.join();
  Values all;
  for (const Values& mine : read) {
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, numbers_from(0));
}

TEST_P(ConcurrentCalls, AnEpochMayBegin) {
  Loader loader(arrays());
  Readers readers(loader);
  readers.call(100, [&] { loader.begin_epoch(); });
  readers.finish();
  loader.begin_epoch();
  EXPECT_EQ(rest_of(loader), numbers_from(0));
}

TEST_P(ConcurrentCalls, HeldMemoryMayBeReleased) {
  Loader loader(arrays());
  Readers readers(loader);
  readers.call(100, [&] { loader.release(); });
  readers.finish();
  loader.begin_epoch();
  EXPECT_EQ(rest_of(loader), numbers_from(0));
}

TEST_P(ConcurrentCalls, CheckpointsMayBeRestored) {
  Loader loader(arrays());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(loader.next().ok());
  const std::string saved = loader.save().value();
  Readers readers(loader);
  readers.call(100, [&] { EXPECT_TRUE(loader.restore(saved).ok()); });
  readers.finish();
  ASSERT_TRUE(loader.restore(saved).ok());
  EXPECT_EQ(rest_of(loader), numbers_from(10));
}

TEST_P(ConcurrentCalls, CheckpointsMayBeSaved) {
  const Dataset many = arrays(100'000'000);
  Loader loader(many);
  Readers readers(loader);
  std::vector<std::string> saved;
  readers.call(100, [&] { saved.push_back(loader.save().value()); });
  readers.finish();
  int64_t last = 0;
  for (const std::string& checkpoint : saved) {
    Loader restored(many);
    ASSERT_TRUE(restored.restore(checkpoint).ok());
    const int64_t first = number_of(restored.next().value().value());
    EXPECT_GE(first, last);
    EXPECT_EQ(number_of(restored.next().value().value()), first + 1);
    last = first;
  }
}

TEST_P(ConcurrentCalls, ClosingEndsTheReaders) {
  for (int round = 0; round < 200; ++round) {
    Loader loader(arrays(kElements * kElements));
    std::atomic<int64_t> seen = 0;
    std::atomic<int> wrong = 0;
    const auto read = [&] {
      while (true) {
        const Result<std::optional<Element>> next = loader.next();
        if (next && !*next) return;
        if (!next || number_of(**next) < 0) ++wrong;
        ++seen;
        seen.notify_all();
      }
    };
    std::thread one(read), other(read);
    if (round % 2 == 0) seen.wait(0);
    loader.close();
    one.join();
    other.join();
    ASSERT_EQ(wrong, 0);
    ASSERT_FALSE(loader.next().value().has_value());
  }
}

}  // namespace
}  // namespace stoker
