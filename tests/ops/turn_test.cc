#include "stoker/ops/turn.h"

#include "support/eval.h"

namespace stoker {
namespace {

TEST(TurnOps, TurnPicturesAndBatches) {
  const Array picture = array<int16_t>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const auto turned = [&](int64_t k) { return *eval([k](Value x) { return image::rot90(x, {.k = k}); }, {picture}); };
  EXPECT_EQ(turned(1), array<int16_t>({3, 6, 2, 5, 1, 4}, {3, 2, 1}));
  EXPECT_EQ(turned(-1), turned(3));
  EXPECT_EQ(turned(4), picture);
  EXPECT_EQ(turned(std::numeric_limits<int64_t>::min()), picture);
  EXPECT_EQ(*eval([](Value x) { return image::transpose_image(x); }, {picture}),
            array<int16_t>({1, 4, 2, 5, 3, 6}, {3, 2, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::rot90(x); }, {array<int16_t>({1, 2, 3, 4}, {2, 1, 2, 1})}),
            array<int16_t>({2, 1, 4, 3}, {2, 2, 1, 1}));
}

TEST(TurnOps, RefuseWhatIsNoPicture) {
  EXPECT_EQ(complaint([](Value x) { return image::rot90(x, {.k = 0}); }, {array<int>({1, 2})}),
            "a picture has 3 dims and a batch of pictures 4, found shape [2]");
  EXPECT_EQ(complaint([](Value x) { return image::transpose_image(x); }, {array<std::string>({"a"}, {1, 1, 1})}),
            "a picture has numbers, found string");
}

}  // namespace
}  // namespace stoker
