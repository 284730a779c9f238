#include "stoker/ops/invert.h"

#include "support/eval.h"

namespace stoker {
namespace {

TEST(Invert, TakesEachValueFromTheHighest) {
  EXPECT_EQ(*eval([](Value x) { return invert(x); }, {array<uint8_t>({0, 1, 255})}), array<uint8_t>({255, 254, 0}));
}

TEST(Invert, RefusesOtherTypes) {
  EXPECT_EQ(complaint([](Value x) { return invert(x); }, {array<float>({1})}), "wants uint8, found float32");
}

}  // namespace
}  // namespace stoker
