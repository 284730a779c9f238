#include "stoker/core/scratch.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace stoker {
namespace {

TEST(Scratch, GivesAThreadAgainWhatItGaveBack) {
  void* first = take_scratch(1000);
  give_scratch(first, 1000);
  EXPECT_EQ(take_scratch(900), first);  // of the same power of two
  void* other = take_scratch(900);
  EXPECT_NE(other, first);
  give_scratch(other, 900);
  give_scratch(first, 900);
}

TEST(Scratch, HoldsWhatIsWrittenAtAnySize) {
  for (const size_t size : {1, 63, 64, 65, 1000, 1 << 20, (1 << 20) + 1, 5'000'000}) {
    ScratchVector<char> bytes(size, 'x');
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), size_t{0}), size * 'x');
  }
}

TEST(Scratch, MayBeGivenBackByAnotherThread) {
  ScratchVector<int> numbers(100, 7);
  std::thread([moved = std::move(numbers)] { EXPECT_EQ(moved[99], 7); }).join();
}

}  // namespace
}  // namespace stoker
