#include "stoker/core/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>
#include <vector>

namespace stoker {
namespace {

std::vector<int64_t> order_of(uint64_t key, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  Permutation(key, n).fill(0, order);
  return order;
}

bool is_bijection(const std::vector<int64_t>& order) {
  std::vector<bool> seen(order.size());
  for (int64_t value : order) {
    if (value < 0 || value >= static_cast<int64_t>(order.size()) || seen[static_cast<size_t>(value)]) return false;
    seen[static_cast<size_t>(value)] = true;
  }
  return true;
}

// The distance, in standard deviations, of the chi-square statistic of these counts from its
// expected value for a uniform distribution.
double excess(const std::vector<int>& counts) {
  double draws = 0;
  for (int count : counts) draws += count;
  const double expected = draws / static_cast<double>(counts.size());
  double chi = 0;
  for (int count : counts) chi += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi - freedom) / std::sqrt(2 * freedom);
}

TEST(Permutation, ContainsEveryNumberOnceForEverySmallSize) {
  for (int64_t n = 0; n <= 2000; ++n)
    for (uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}})
      EXPECT_TRUE(is_bijection(order_of(key, n))) << "key " << key << ", n " << n;
}

// tf.data's global shuffle repeats one element and loses one at 2^16 + 1, 2^18 + 1, …
TEST(Permutation, ContainsEveryNumberOnceAroundPowersOfTwo) {
  for (int64_t n : {65535, 65536, 65537, 262143, 262144, 262145, 1048577})
    for (uint64_t key : {0, 7, 123456789}) EXPECT_TRUE(is_bijection(order_of(key, n))) << "key " << key << ", n " << n;
}

TEST(Permutation, HasAnInverseAtEverySize) {
  std::vector<int64_t> sizes = {1, 2, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 1000000007, INT64_MAX};
  for (int bits = 20; bits < 63; ++bits)
    for (int64_t off : {-1, 0, 1}) sizes.push_back((int64_t{1} << bits) + off);
  for (int64_t n : sizes) {
    const Permutation permutation(42, n);
    for (int64_t i = 0; i < std::min<int64_t>(n, 500); ++i) {
      for (int64_t place : {i, n - 1 - i, n / 2 + i / 2}) {
        const int64_t value = permutation(place);
        EXPECT_TRUE(value >= 0 && value < n);
        EXPECT_EQ(permutation.inverse(value), place) << "n " << n;
      }
    }
  }
}

TEST(Permutation, RepeatsNothingAtTheLargestSizes) {
  for (int64_t n : {int64_t{1} << 62, (int64_t{1} << 62) + 1, INT64_MAX}) {
    const Permutation permutation(3, n);
    std::unordered_set<int64_t> seen;
    for (int64_t i = 0; i < 100000; ++i) EXPECT_TRUE(seen.insert(permutation(n / 100000 * i)).second);
  }
}

TEST(Permutation, NeverChanges) {
  EXPECT_EQ(order_of(42, 10), (std::vector<int64_t>{2, 5, 1, 0, 9, 7, 3, 8, 4, 6}));
  EXPECT_EQ(order_of(42, 20),
            (std::vector<int64_t>{2, 8, 15, 19, 7, 16, 18, 13, 1, 17, 3, 5, 4, 9, 12, 0, 10, 14, 11, 6}));
  const Permutation large(42, 1000000000);
  EXPECT_EQ(large(0), 446709734);
  EXPECT_EQ(large(999999999), 873548521);
  EXPECT_EQ(Permutation(42, INT64_MAX)(1), 454327451670962476);
}

TEST(Permutation, FillsFromAnyPosition) {
  const Permutation permutation(9, 1000);
  std::vector<int64_t> part(100);
  permutation.fill(333, part);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(part[static_cast<size_t>(i)], permutation(333 + i));
  permutation.fill(1000, {});
}

TEST(Permutation, ProducesEverySmallOrderEquallyOften) {
  for (int64_t n : {2, 3, 4, 5, 6}) {
    std::map<std::vector<int64_t>, int> times;
    for (uint64_t key = 0; key < 200000; ++key) ++times[order_of(key, n)];
    std::vector<int> counts;
    for (const auto& [order, count] : times) counts.push_back(count);
    EXPECT_EQ(counts.size(), static_cast<size_t>(std::tgamma(n + 1))) << "n " << n;
    EXPECT_LT(excess(counts), 4) << "n " << n;
  }
}

TEST(Permutation, PutsTheFirstElementAnywhereOverTheKeys) {
  for (int64_t n : {7, 16, 17, 32, 33, 64, 100, 255, 256, 257, 1000}) {
    std::vector<int> counts(static_cast<size_t>(n));
    for (int64_t key = 0; key < 200 * n; ++key)
      ++counts[static_cast<size_t>(Permutation(static_cast<uint64_t>(key), n).inverse(0))];
    EXPECT_LT(excess(counts), 4) << "n " << n;
  }
}

TEST(Permutation, PutsPairsOfNeighborsAnywhereOverTheKeys) {
  for (int64_t n : {11, 16, 17, 32, 33, 64, 65, 100}) {
    std::vector<int> counts(static_cast<size_t>(n * (n - 1)));
    for (int64_t key = 0; key < 50 * n * n; ++key) {
      const Permutation permutation(static_cast<uint64_t>(key), n);
      const int64_t first = permutation(0);
      const int64_t second = permutation(1);
      ++counts[static_cast<size_t>(first * (n - 1) + second - (second > first))];
    }
    EXPECT_LT(excess(counts), 4) << "n " << n;
  }
}

TEST(Permutation, MakesEveryDistanceBetweenNeighborsEquallyLikely) {
  constexpr int64_t kSize = 1 << 20;
  for (uint64_t key : {1, 2, 3}) {
    const std::vector<int64_t> order = order_of(key, kSize);
    std::vector<int> counts(1024);
    for (size_t i = 1; i < order.size(); ++i)
      ++counts[static_cast<size_t>((order[i] - order[i - 1] + kSize) % kSize / 1024)];
    EXPECT_LT(excess(counts), 4) << "key " << key;
  }
}

TEST(Permutation, ChangesWithTheKeyAndWithTheSize) {
  EXPECT_NE(order_of(1, 1000), order_of(2, 1000));
  std::vector<int64_t> longer = order_of(1, 1001);
  std::erase(longer, 1000);
  EXPECT_NE(order_of(1, 1000), longer);
}

TEST(PermutationDeathTest, RejectsPositionsOutOfRange) {
  EXPECT_DEATH(Permutation(1, 10)(10), "x < n_");
  EXPECT_DEATH(Permutation(1, 0)(0), "x < n_");
  EXPECT_DEATH(Permutation(1, 100)(-1), "x < n_");
}

}  // namespace
}  // namespace stoker
