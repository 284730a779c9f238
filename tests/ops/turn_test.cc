#include "stoker/ops/turn.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

OP_EXAMPLE(Rot90{.k = 3}, image_rows);
OP_EXAMPLE(TransposeImage{}, image_rows);

TEST(TurnOps, RotateAndTransposeImagesAndBatches) {
  const Array image = array<int16_t>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const auto turned = [&](int64_t k) { return *eval([k](Value x) { return image::rot90(x, {.k = k}); }, {image}); };
  EXPECT_EQ(turned(1), array<int16_t>({3, 6, 2, 5, 1, 4}, {3, 2, 1}));
  EXPECT_EQ(turned(-1), turned(3));
  EXPECT_EQ(turned(4), image);
  EXPECT_EQ(turned(std::numeric_limits<int64_t>::min()), image);
  EXPECT_EQ(*eval([](Value x) { return image::transpose_image(x); }, {image}),
            array<int16_t>({1, 4, 2, 5, 3, 6}, {3, 2, 1}));
  EXPECT_EQ(*eval([](Value x) { return image::rot90(x); }, {array<int16_t>({1, 2, 3, 4}, {2, 1, 2, 1})}),
            array<int16_t>({2, 1, 4, 3}, {2, 2, 1, 1}));
}

TEST(TurnOps, RejectArraysThatAreNotImages) {
  EXPECT_EQ(complaint([](Value x) { return image::rot90(x, {.k = 0}); }, {array<int>({1, 2})}),
            "expected an image of shape [height, width, channels] or a batch of images, got shape [2]");
  EXPECT_EQ(complaint([](Value x) { return image::transpose_image(x); }, {array<std::string>({"a"}, {1, 1, 1})}),
            "expected an image of numbers, got string");
}

}  // namespace
}  // namespace stoker
