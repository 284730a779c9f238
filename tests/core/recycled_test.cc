#include "stoker/core/recycled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "support/allocations.h"

namespace stoker {
namespace {

TEST(Recycled, ReusesABlockThatTheSameThreadFreed) {
  for (const size_t bytes : {1000, 100'000}) {
    void* first = take_recycled(bytes);
    give_recycled(first, bytes);
    EXPECT_EQ(take_recycled(bytes / 10 * 9), first);  // rounds up to the same power of two
    void* other = take_recycled(bytes);
    EXPECT_NE(other, first);
    give_recycled(other, bytes);
    give_recycled(first, bytes / 10 * 9);
  }
}

TEST(Recycled, StoresDataOfAnySize) {
  for (const size_t size : {1, 63, 64, 65, 1000, 4096, 4097, 1 << 20, (1 << 20) + 1, 5'000'000}) {
    RecycledVector<char> bytes(size, 'x');
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), size_t{0}), size * 'x');
  }
}

TEST(Recycled, ReusesBlocksThatAnotherThreadFreed) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces operator new";
  std::vector<void*> blocks(1000);
  const auto take_all = [&] { std::ranges::generate(blocks, [] { return take_recycled(4096); }); };
  const auto give_all = [&] { std::ranges::for_each(blocks, [](void* block) { give_recycled(block, 4096); }); };
  take_all();
  std::thread(give_all).join();
  const int64_t before = allocations_so_far();
  take_all();
  EXPECT_EQ(allocations_so_far() - before, 1000 - 256);  // one megabyte is kept
  give_all();
  free_recycled();
}

TEST(Recycled, DoesNotBlockOnALockThatIsHeld) {
  std::mutex mutex;
  EXPECT_TRUE(lock_soon(mutex));
  const std::lock_guard held(mutex);
  std::thread([&] { EXPECT_FALSE(lock_soon(mutex)); }).join();
}

TEST(Recycled, NeverReturnsABlockTwice) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      std::vector<RecycledVector<int>> held(200);
      for (size_t i = 0; i < 20'000; ++i) {
        RecycledVector<int>& one = held[i * 7919 % held.size()];
        EXPECT_TRUE(std::ranges::all_of(one, [&](int value) { return value == number; }));
        one = RecycledVector<int>(1 + i % 100, number);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Recycled, MayBeFreedByAnotherThread) {
  RecycledVector<int> numbers(100, 7);
  std::thread([moved = std::move(numbers)] { EXPECT_EQ(moved[99], 7); }).join();
}

}  // namespace
}  // namespace stoker
