#include "stoker/ops/logic.h"

#include <limits>

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

const Array kLeft = array<bool>({false, false, true, true});
const Array kRight = array<bool>({false, true, false, true});

OP_EXAMPLE(LogicalAnd{}, two_bool_rows);
OP_EXAMPLE(LogicalOr{}, two_bool_rows);
OP_EXAMPLE(LogicalNot{}, float_rows);

TEST(Logic, FollowsTheTruthTables) {
  EXPECT_EQ(*eval([](Value a, Value b) { return a && b; }, {kLeft, kRight}), array<bool>({false, false, false, true}));
  EXPECT_EQ(*eval([](Value a, Value b) { return a || b; }, {kLeft, kRight}), array<bool>({false, true, true, true}));
  EXPECT_EQ(*eval([](Value a) { return !a; }, {kRight}), array<bool>({true, false, true, false}));
}

TEST(Logic, TreatsAllNumbersButZeroAsTrue) {
  const Array numbers = array<float>({0, -0.0f, 0.25f, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(*eval([](Value a) { return !a; }, {numbers}), array<bool>({true, true, false, false}));
  EXPECT_EQ(*eval([](Value a, Value b) { return a && b; }, {numbers, array<int64_t>({1, 256, 256, 1})}),
            array<bool>({false, false, true, true}));
  EXPECT_EQ(*eval([](Value a) { return a || 300; }, {array<uint8_t>({0, 1})}), array<bool>({true, true}));
}

TEST(Logic, RejectsStrings) {
  EXPECT_EQ(complaint([](Value a) { return !a; }, {Array::of_bytes("yes")}), "expected numbers, got string");
  EXPECT_EQ(complaint([](Value a, Value b) { return a && b; }, {Array::of(true), Array::of_bytes("yes")}),
            "expected numbers, got bool and string");
}

// A failed row of a column contains arbitrary bytes, most of which are not valid bools in C++.
TEST(Logic, ReadsAnyByteAsABool) {
  Array block = Array::make({3}, DType::kBool).value();
  const unsigned char bytes[] = {0, 42, 255};
  std::memcpy(block.mutable_raw(), bytes, 3);
  auto run = run_of({Column(block)});
  Context context;
  ASSERT_TRUE(Function([](Value a) { return !a; }).apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block(), array<bool>({true, false, false}));
}

}  // namespace
}  // namespace stoker
