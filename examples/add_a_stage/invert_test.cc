#include "stoker/ops/invert.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

OP_EXAMPLE(Invert{.highest = 200}, image_rows);

TEST(Invert, SubtractsEachValueFromTheHighest) {
  EXPECT_EQ(*eval([](Value x) { return invert(x); }, {array<uint8_t>({0, 1, 255})}), array<uint8_t>({255, 254, 0}));
}

TEST(Invert, RejectsOtherTypes) {
  EXPECT_EQ(complaint([](Value x) { return invert(x); }, {array<float>({1})}), "expected uint8, got float32");
}

}  // namespace
}  // namespace stoker
