#include "stoker/core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace stoker {
namespace {

using Block = std::array<uint32_t, 4>;
constexpr uint32_t kOnes = 0xffffffff;

// The kat_vectors of Random123 for philox4x32 with 10 rounds.
TEST(PhiloxBlock, MatchesThePublishedVectors) {
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

std::vector<uint32_t> take(Philox philox, int count) {
  std::vector<uint32_t> outputs;
  for (int i = 0; i < count; ++i) outputs.push_back(philox.next());
  return outputs;
}

TEST(Philox, UsesTheSeedAsKeyAndTheSecondSeedAsHighHalfOfTheCounter) {
  const Philox philox(0x299f31d0a4093822, 0x0370734413198a2e);
  const std::vector<uint32_t> outputs = take(philox, 8);
  const Block first = philox_block({0, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  const Block second = philox_block({1, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  EXPECT_EQ(std::vector(outputs.begin(), outputs.begin() + 4), std::vector(first.begin(), first.end()));
  EXPECT_EQ(std::vector(outputs.begin() + 4, outputs.end()), std::vector(second.begin(), second.end()));
}

TEST(Philox, SkipsAsManyOutputsAsCallsWould) {
  for (uint64_t before = 0; before < 9; ++before) {
    for (uint64_t skipped = 0; skipped < 21; ++skipped) {
      Philox called(7, 9);
      for (uint64_t i = 0; i < before + skipped; ++i) called.next();
      Philox jumped(7, 9);
      for (uint64_t i = 0; i < before; ++i) jumped.next();
      jumped.skip(skipped);
      EXPECT_EQ(jumped, called);
      EXPECT_EQ(take(jumped, 6), take(called, 6)) << before << " then " << skipped;
    }
  }
}

TEST(Philox, CarriesBeyondTwoToThe64Blocks) {
  Philox philox(7, 9);
  for (int i = 0; i < 4; ++i) philox.skip(uint64_t{1} << 63);
  for (int i = 0; i < 4; ++i) philox.skip(uint64_t{1} << 63);
  EXPECT_EQ(philox, Philox(7, 10));
  EXPECT_EQ(take(philox, 5), take(Philox(7, 10), 5));
}

TEST(Philox, IsEqualOnlyWithTheSameSeedsAtTheSamePosition) {
  Philox one(1, 2);
  const Philox same = one;
  EXPECT_EQ(one, same);
  one.next();
  EXPECT_NE(one, same);
  EXPECT_NE(Philox(1, 2), Philox(1, 3));
  EXPECT_NE(Philox(1, 2), Philox(2, 2));
}

TEST(TfSeeds, MatchesTensorFlow) {
  EXPECT_EQ(tf_seeds({}, 42), (SeedPair{87654321, 42}));
  EXPECT_EQ(tf_seeds(5, 42), (SeedPair{5, 42}));
  EXPECT_EQ(tf_seeds(-1, -2), (SeedPair{2147483646, 2147483645}));
  EXPECT_EQ(tf_seeds(2147483647, 2147483648), (SeedPair{0, 1}));
  EXPECT_EQ(tf_seeds(0, 0), (SeedPair{0, 2147483647}));
  EXPECT_EQ(tf_seeds(2147483647, -2147483647), (SeedPair{0, 2147483647}));
}

TEST(EpochPair, IsThePairThatSuccessivePassesDraw) {
  Philox parent(87654321, 42);
  for (int64_t pass = 0; pass < 50; ++pass) {
    const uint64_t seed = parent.next();
    const uint64_t seed2 = parent.next();
    EXPECT_EQ(epoch_pair({87654321, 42}, pass), (SeedPair{seed, seed2}));
  }
}

// tf.data's shuffle with a buffer as large as the dataset.
std::vector<int> tf_shuffle(int n, SeedPair seeds) {
  std::vector<int> slice(static_cast<size_t>(n));
  std::iota(slice.begin(), slice.end(), 0);
  Philox draws(seeds);
  std::vector<int> order;
  for (size_t begin = 0; begin < slice.size(); ++begin) {
    const size_t chosen = begin + draws.next() % (slice.size() - begin);
    order.push_back(slice[chosen]);
    slice[chosen] = slice[begin];
  }
  return order;
}

// range(10).shuffle(10, seed=42) of TensorFlow 2.21, iterated twice.
TEST(EpochPair, ReproducesTensorFlowsShuffle) {
  const SeedPair parent = tf_seeds({}, 42);
  EXPECT_EQ(tf_shuffle(10, epoch_pair(parent, 0)), (std::vector{5, 9, 6, 4, 7, 1, 2, 8, 3, 0}));
  EXPECT_EQ(tf_shuffle(10, epoch_pair(parent, 1)), (std::vector{3, 7, 6, 5, 8, 4, 0, 1, 9, 2}));
}

TEST(Rng, NeverChanges) {
  Rng rng(1, 2, 3, 4);
  EXPECT_EQ(rng.bits32(), 1761707820u);
  EXPECT_EQ(rng.bits64(), 18275752087079752932u);
  EXPECT_EQ(rng.uniform(), 0x1.594cb72c04a4cp-1);
  EXPECT_EQ(rng.uniform_float(), 0x1.f56p-4f);
  EXPECT_EQ(rng.below(1000), 373);
  EXPECT_EQ(rng.normal(), -0x1.f794cb4e13838p-4);
}

TEST(Rng, DrawsDifferentNumbersForEachSeedStageAndOrigin) {
  std::set<uint64_t> firsts;
  for (uint64_t a = 0; a < 8; ++a)
    for (uint64_t b = 0; b < 8; ++b)
      for (uint64_t c = 0; c < 8; ++c)
        for (uint64_t d = 0; d < 8; ++d) firsts.insert(Rng(a, b, c, d).bits64());
  EXPECT_EQ(firsts.size(), 8u * 8 * 8 * 8);
}

TEST(Rng, IsUniformOverNeighboringOrigins) {
  std::vector<int> counts(64);
  constexpr int kDraws = 64 * 1000;
  for (uint64_t i = 0; i < kDraws; ++i) ++counts[Rng(1, 2, 0, i).bits32() % 64];
  double chi = 0;
  for (int count : counts) chi += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi, 103);  // 63 degrees of freedom: exceeded for one key in a thousand
}

TEST(Rng, StaysWithinItsRanges) {
  Rng rng(1, 2, 3, 4);
  for (int i = 0; i < 10000; ++i) {
    const double u = rng.uniform();
    EXPECT_TRUE(u >= 0 && u < 1);
    const float f = rng.uniform_float();
    EXPECT_TRUE(f >= 0 && f < 1);
    EXPECT_EQ(rng.below(1), 0);
    const int64_t most = rng.below(INT64_MAX);
    EXPECT_TRUE(most >= 0 && most < INT64_MAX);
  }
}

TEST(Rng, DrawsEachNumberBelowNEquallyOften) {
  Rng rng(1, 2, 3, 4);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<size_t>(rng.below(7))];
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);
}

// A plain remainder would draw the numbers of the first third one and a half times as often.
TEST(Rng, IsUniformForRangesNearTheWordSize) {
  Rng rng(1, 2, 3, 4);
  const int64_t n = 3 * (int64_t{1} << 61);
  std::vector<int> thirds(3);
  for (int i = 0; i < 30000; ++i) ++thirds[static_cast<size_t>(rng.below(n) >> 61)];
  for (int count : thirds) EXPECT_NEAR(count, 10000, 400);
}

TEST(Rng, DrawsNormallyDistributedNumbers) {
  Rng rng(1, 2, 3, 4);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0, fourth = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond_two += std::abs(x) > 2;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.015);
  EXPECT_NEAR(fourth / kDraws, 3, 0.1);
  EXPECT_NEAR(beyond_two / double{kDraws}, 0.0455, 0.002);
}

TEST(RngDeathTest, RejectsAnEmptyRange) { EXPECT_DEATH(Rng(1, 2, 3, 4).below(0), "n > 0"); }

}  // namespace
}  // namespace stoker
