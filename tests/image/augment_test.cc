#include "stoker/image/augment.h"

#include <gtest/gtest.h>

#include <map>

namespace stoker {
namespace {

using Extremes = std::map<Augmentation, std::pair<double, double>>;

template <typename Draw>
Extremes extremes(Draw draw) {
  Rng rng(1, 2, 3, 4);
  Extremes found;
  for (int i = 0; i < 20000; ++i) {
    const DrawnAugmentation drawn = draw(rng);
    EXPECT_TRUE(is_magnitude(drawn.augmentation, drawn.magnitude));
    auto [at, fresh] = found.try_emplace(drawn.augmentation, drawn.magnitude, drawn.magnitude);
    at->second.first = std::min(at->second.first, drawn.magnitude);
    at->second.second = std::max(at->second.second, drawn.magnitude);
  }
  return found;
}

// The tables of torchvision: RandAugment at its last step.
TEST(Augment, DrawsTheMagnitudesOfRandAugment) {
  const Extremes found = extremes([](Rng& rng) { return draw_rand_augment(rng, 30, 31, 331, 662); });
  EXPECT_EQ(found.size(), all_augmentations().size());
  EXPECT_EQ(found.at(Augmentation::kShearX), (std::pair{-0.3, 0.3}));
  EXPECT_EQ(found.at(Augmentation::kTranslateX), (std::pair{-300.0, 300.0}));
  EXPECT_EQ(found.at(Augmentation::kTranslateY), (std::pair{-150.0, 150.0}));
  EXPECT_EQ(found.at(Augmentation::kRotate), (std::pair{-30.0, 30.0}));
  EXPECT_EQ(found.at(Augmentation::kSharpness), (std::pair{-0.9, 0.9}));
  EXPECT_EQ(found.at(Augmentation::kPosterize), (std::pair{4.0, 4.0}));
  EXPECT_EQ(found.at(Augmentation::kSolarize), (std::pair{0.0, 0.0}));
  EXPECT_EQ(found.at(Augmentation::kEqualize), (std::pair{0.0, 0.0}));
}

TEST(Augment, DrawsTheMagnitudesOfTrivialAugment) {
  const Extremes found = extremes([](Rng& rng) { return draw_trivial_augment(rng, 31); });
  EXPECT_EQ(found.size(), all_augmentations().size());
  EXPECT_EQ(found.at(Augmentation::kShearY), (std::pair{-0.99, 0.99}));
  EXPECT_EQ(found.at(Augmentation::kTranslateX), (std::pair{-32.0, 32.0}));
  EXPECT_EQ(found.at(Augmentation::kRotate), (std::pair{-135.0, 135.0}));
  EXPECT_EQ(found.at(Augmentation::kColor), (std::pair{-0.99, 0.99}));
  EXPECT_EQ(found.at(Augmentation::kPosterize), (std::pair{2.0, 8.0}));
  EXPECT_EQ(found.at(Augmentation::kSolarize), (std::pair{0.0, 255.0}));
}

TEST(Augment, HasTheNamesOfTorchvision) {
  for (Augmentation each : all_augmentations()) EXPECT_EQ(augmentation_named(name_of(each)), each);
  EXPECT_EQ(augmentation_named("Invert"), std::nullopt);
}

TEST(Augment, ErasesWindowsOfTheRequestedAreaAndRatio) {
  Rng rng(1, 2, 3, 4);
  double least = 1, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto box = draw_erased(rng, 100, 200, {0.02, 0.33}, {0.3, 3.3});
    ASSERT_TRUE(box.has_value());
    ASSERT_TRUE(box->top >= 0 && box->left >= 0 && box->top + box->height <= 100 && box->left + box->width <= 200);
    const double share = static_cast<double>(box->height * box->width) / 20000;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_NEAR(least, 0.02, 0.005);
  EXPECT_NEAR(most, 0.33, 0.02);
  EXPECT_EQ(draw_erased(rng, 10, 10, {1, 1}, {1, 1}), std::nullopt);
}

}  // namespace
}  // namespace stoker
