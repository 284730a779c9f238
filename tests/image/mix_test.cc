#include "stoker/image/mix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stoker {
namespace {

// Mean and variance of Beta(a, a) are 1/2 and 1 / (8 a + 4).
TEST(Mix, DrawsSharesFromTheBetaDistribution) {
  for (double alpha : {1e-12, 0.1, 0.2, 0.5, 1.0, 1.5, 8.0, 1e6}) {
    Rng rng(1, 2, 3, 4);
    constexpr int kDraws = 4000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double share = draw_share(rng, alpha);
      ASSERT_TRUE(share >= 0 && share <= 1) << share;
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
    }
    const double variance = 1 / (8 * alpha + 4);
    EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws / variance, 1, 0.15) << alpha;
  }
}

TEST(Mix, ClipsWindowsAtTheBorders) {
  Rng rng(1, 2, 3, 4);
  for (int i = 0; i < 1000; ++i) {
    const CropBox box = draw_mix_box(rng, 0.5, 20, 30);
    ASSERT_TRUE(box.top >= 0 && box.left >= 0 && box.top + box.height <= 20 && box.left + box.width <= 30);
    EXPECT_LE(box.height, 14);
    EXPECT_LE(box.width, 20);
    EXPECT_GE(box.height, 7);
  }
  EXPECT_EQ(draw_mix_box(rng, 1, 20, 30).height, 0);
}

TEST(Mix, MixesEachRowWithThePreviousOne) {
  const std::vector<float> rows{4, 8, 12};
  std::vector<float> out(3);
  mix_rows(rows.data(), 3, 1, 0.75f, out.data());
  EXPECT_EQ(out, (std::vector<float>{6, 7, 11}));
  mix_rows(rows.data(), 1, 1, 0.75f, out.data());
  EXPECT_EQ(out[0], 4);
}

}  // namespace
}  // namespace stoker
