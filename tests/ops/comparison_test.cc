#include "stoker/ops/comparison.h"

#include <limits>

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

using Bools = std::vector<bool>;

Bools all_six(const Array& a, const Array& b) {
  Bools found;
  for (const Function& function :
       {Function([](Value x, Value y) { return x == y; }), Function([](Value x, Value y) { return x != y; }),
        Function([](Value x, Value y) { return x < y; }), Function([](Value x, Value y) { return x <= y; }),
        Function([](Value x, Value y) { return x > y; }), Function([](Value x, Value y) { return x >= y; })}) {
    const Result<Array> result = eval(function, {a, b});
    EXPECT_TRUE(result.ok() && result->type() == DType::kBool) << (result ? "" : result.error().describe());
    found.push_back(result && result->scalar<bool>());
  }
  return found;
}

const Bools kBelow{false, true, true, true, false, false};
const Bools kSame{true, false, false, true, false, true};
const Bools kAbove{false, true, false, false, true, true};

OP_EXAMPLE(Equal{}, two_integer_rows);
OP_EXAMPLE(NotEqual{}, two_integer_rows);
OP_EXAMPLE(Less{}, two_integer_rows);
OP_EXAMPLE(LessEqual{}, two_integer_rows);
OP_EXAMPLE(Greater{}, two_float_rows);
OP_EXAMPLE(GreaterEqual{}, two_float_rows);

TEST(Comparison, OrdersNumbersOfAllTypes) {
  EXPECT_EQ(all_six(Array::of(1), Array::of(2)), kBelow);
  EXPECT_EQ(all_six(Array::of<uint8_t>(2), Array::of(2.0)), kSame);
  EXPECT_EQ(all_six(Array::of(Float16(3)), Array::of<int8_t>(-3)), kAbove);
  EXPECT_EQ(all_six(Array::of(Bfloat16(1)), Array::of(Bfloat16(2))), kBelow);
  EXPECT_EQ(all_six(Array::of(false), Array::of(true)), kBelow);
}

TEST(Comparison, IsExactForSignedAndUnsignedIntegers) {
  EXPECT_EQ(all_six(Array::of<int64_t>(-1), Array::of(UINT64_MAX)), kBelow);
  EXPECT_EQ(all_six(Array::of(UINT64_MAX), Array::of<int8_t>(-1)), kAbove);
  EXPECT_EQ(all_six(Array::of<uint64_t>((uint64_t{1} << 53) + 1), Array::of<int64_t>(int64_t{1} << 53)), kAbove);
  EXPECT_EQ(all_six(Array::of<uint64_t>(7), Array::of<int64_t>(7)), kSame);
}

TEST(Comparison, TreatsNaNAsDifferentFromItself) {
  const Array nan = Array::of(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(all_six(nan, nan), (Bools{false, true, false, false, false, false}));
}

TEST(Comparison, OrdersStringsByteByByte) {
  EXPECT_EQ(all_six(Array::of_bytes("cat"), Array::of_bytes("dog")), kBelow);
  EXPECT_EQ(all_six(Array::of_bytes("cat"), Array::of_bytes("cat")), kSame);
  EXPECT_EQ(all_six(Array::of_bytes("\xff"), Array::of_bytes("a")), kAbove);
  const Array names = array<std::string>({"cat", "dog", "", "cat"});
  EXPECT_EQ(*eval([](Value x) { return x == "cat"; }, {names}), array<bool>({true, false, false, true}));
}

TEST(Comparison, AcceptsPlainNumbersThatDoNotFitTheType) {
  const Array bytes = array<uint8_t>({0, 200, 255});
  EXPECT_EQ(*eval([](Value x) { return x < 300; }, {bytes}), array<bool>({true, true, true}));
  EXPECT_EQ(*eval([](Value x) { return x > -1; }, {Array::of(UINT64_MAX)}), Array::of(true));
  EXPECT_EQ(*eval([](Value x) { return x == 200; }, {bytes}), array<bool>({false, true, false}));
  EXPECT_EQ(*eval([](Value x) { return 0.5 < x; }, {bytes}), array<bool>({false, true, true}));
}

TEST(Comparison, RejectsAStringAndANumber) {
  EXPECT_EQ(complaint([](Value x, Value y) { return x == y; }, {Array::of_bytes("1"), Array::of(1)}),
            "cannot compare string and int32");
}

TEST(Comparison, Broadcasts) {
  const Array column = array<int32_t>({1, 2}, {2, 1});
  EXPECT_EQ(*eval([](Value x, Value y) { return x >= y; }, {column, array<int32_t>({1, 2, 3})}),
            array<bool>({true, false, false, true, true, false}, {2, 3}));
}

}  // namespace
}  // namespace stoker
