#include "stoker/ops/cast.h"

#include <bit>
#include <limits>

#include "stoker/core/rng.h"
#include "stoker/graph/promotion.h"
#include "stoker/ops/convert.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Result<Array> as_type(const Array& from, DType type) {
  return eval([&](Value x) { return cast(x, type); }, {from});
}

OP_EXAMPLE(Cast{.dtype = kInt16}, float_rows);

TEST(Cast, ConvertsEveryTypeToEveryOther) {
  for (int a = 0; a < static_cast<int>(kBytes); ++a)
    for (int b = 0; b < static_cast<int>(kBytes); ++b) {
      const auto from = static_cast<DType>(a), to = static_cast<DType>(b);
      const Array numbers = converted(array<int8_t>({0, 1, 1, 0, 1}), from).value();
      EXPECT_EQ(*as_type(numbers, to), *converted(array<int8_t>({0, 1, 1, 0, 1}), to)) << name_of(from) << name_of(to);
    }
}

TEST(Cast, TruncatesFractions) {
  EXPECT_EQ(*as_type(array<double>({2.9, -2.9, 0.5, -0.5}), kInt32), array<int32_t>({2, -2, 0, 0}));
  EXPECT_EQ(*as_type(array<float>({254.99f, 3.5f}), kUint8), array<uint8_t>({254, 3}));
}

// The results of a C cast on x86, which NumPy and TensorFlow return there.
TEST(Cast, ReturnsTheSameForValuesThatDoNotFitOnEveryMachine) {
  const Array wild = array<double>({3e9, -3e9, kNan, kInf, -kInf, 1e300, -2147483648.5});
  constexpr int32_t low = INT32_MIN;
  EXPECT_EQ(*as_type(wild, kInt32), array<int32_t>({low, low, low, low, low, low, low}));
  EXPECT_EQ(*as_type(array<double>({1e19, kNan, -1e19, 0x1p63}), kInt64),
            array<int64_t>({INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}));
  EXPECT_EQ(*as_type(array<double>({-1, 300, kNan, 256.5}), kUint8), array<uint8_t>({255, 44, 0, 0}));
  EXPECT_EQ(*as_type(array<float>({-1, 300}), kInt8), array<int8_t>({-1, 44}));
  EXPECT_EQ(*as_type(array<double>({-1, 3e9, 5e9}), kUint32), array<uint32_t>({UINT32_MAX, 3000000000u, 705032704u}));
  EXPECT_EQ(*as_type(array<double>({1e19, -1, 0x1p64}), kUint64),
            array<uint64_t>({10000000000000000000u, UINT64_MAX, uint64_t{1} << 63}));
}

TEST(Cast, WrapsIntegers) {
  EXPECT_EQ(*as_type(array<int32_t>({300, -1}), kUint8), array<uint8_t>({44, 255}));
  EXPECT_EQ(*as_type(Array::of(UINT64_MAX), kInt64), Array::of<int64_t>(-1));
}

TEST(Cast, ConvertsAllButZeroToTrue) {
  EXPECT_EQ(*as_type(array<double>({0, -0.0, 1e-300, kNan, -1}), kBool), array<bool>({false, false, true, true, true}));
  EXPECT_EQ(*as_type(array<int64_t>({0, 256}), kBool), array<bool>({false, true}));
}

TEST(Cast, RoundsToNearestEven) {
  EXPECT_EQ(*as_type(Array::of<int64_t>((int64_t{1} << 53) + 1), kFloat64), Array::of(0x1p53));
  EXPECT_EQ(*as_type(Array::of<int32_t>(16777217), kFloat32), Array::of(16777216.0f));
  EXPECT_EQ(*as_type(Array::of(65519.0), kFloat16), Array::of(Float16(65504)));
  EXPECT_EQ(*as_type(Array::of(65520.0), kFloat16), Array::of(Float16(std::numeric_limits<float>::infinity())));
}

// 1 + 2^-11 + 2^-30 is above the midpoint of two float16 numbers. A conversion through float32 would round it to the
// midpoint, and then to the even number below.
TEST(Cast, RoundsFloat64ToFloat16Once) {
  EXPECT_EQ(*as_type(Array::of(1 + 0x1p-11 + 0x1p-30), kFloat16), Array::of(Float16(1 + 0x1p-10f)));
  EXPECT_EQ(*as_type(Array::of(1 + 0x1p-8 + 0x1p-40), kBfloat16), Array::of(Bfloat16(1 + 0x1p-7f)));
  EXPECT_EQ(*as_type(Array::of(-(1 + 0x1p-11 - 0x1p-50)), kFloat16), Array::of(Float16(-1)));
  EXPECT_EQ(narrowed(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(*as_type(Array::of(1e300), kFloat16), Array::of(Float16(std::numeric_limits<float>::infinity())));
}

TEST(Cast, ReturnsAnArrayThatHasTheTypeUnchanged) {
  const Array texts = array<std::string>({"a", "b"});
  EXPECT_EQ(*as_type(texts, kBytes), texts);
}

TEST(Cast, RejectsStrings) {
  EXPECT_EQ(complaint([](Value x) { return cast(x, kInt32); }, {Array::of_bytes("12")}), "cannot cast string to int32");
  EXPECT_EQ(complaint([](Value x) { return cast(x, kBytes); }, {Array::of(1)}), "cannot cast int32 to string");
}

TEST(Cast, ConvertsPlainNumbersFromTheirDefaultTypes) {
  EXPECT_EQ(*eval([](Value) { return cast(300, kUint8); }, {Array::of(1)}), Array::of<uint8_t>(44));
  EXPECT_EQ(*eval([](Value) { return cast(1.9, kInt64); }, {Array::of(1)}), Array::of<int64_t>(1));
}

}  // namespace
}  // namespace stoker
