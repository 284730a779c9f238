#include "stoker/ops/arithmetic.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "stoker/core/power.h"
#include "stoker/graph/promotion.h"
#include "stoker/ops/cast.h"
#include "stoker/ops/convert.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const Function kSum = [](Value a, Value b) { return a + b; };

// The types of NumPy 2.4, and bfloat16 of ml_dtypes 0.6.
constexpr std::string_view kTypes[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
                                       "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
constexpr std::string_view kShort[] = {"b", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "bf", "f4", "f8"};

std::string short_name(DType type) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i] == name_of(type)) return std::string(kShort[i]);
  return "?";
}

Array ones(std::string_view type) { return converted(array<int64_t>({1, 1, 1}), *dtype_named(type)).value(); }

struct TypeRow {
  std::string_view name;
  std::string types;
};

OP_EXAMPLE(Add{}, two_float_rows);
OP_EXAMPLE(Subtract{}, two_float_rows);
OP_EXAMPLE(Multiply{}, two_integer_rows);
OP_EXAMPLE(Divide{}, two_integer_rows);
OP_EXAMPLE(FloorDivide{}, two_integer_rows);
OP_EXAMPLE(Mod{}, two_integer_rows);
OP_EXAMPLE(Power{}, two_integer_rows);
OP_EXAMPLE(Minimum{}, two_float_rows);
OP_EXAMPLE(Maximum{}, two_float_rows);
OP_EXAMPLE(Negative{}, float_rows);
OP_EXAMPLE(Absolute{}, float_rows);

class Promotion : public testing::TestWithParam<TypeRow> {};

TEST_P(Promotion, MatchesNumPy) {
  std::string found, promoted;
  for (std::string_view other : kTypes) {
    const Result<Array> sum = eval(kSum, {ones(GetParam().name), ones(other)});
    found += (found.empty() ? "" : " ") + (sum ? short_name(sum->type()) : "--");
    promoted +=
        (promoted.empty() ? "" : " ") + short_name(*promote(*dtype_named(GetParam().name), *dtype_named(other)));
  }
  EXPECT_EQ(found, GetParam().types);
  EXPECT_EQ(promoted, GetParam().types);
}

// The types of NumPy: (ones(1, a) + ones(1, b)).dtype
INSTANTIATE_TEST_SUITE_P(Table, Promotion,
                         testing::Values(TypeRow{"bool", "b i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8"},
                                         TypeRow{"int8", "i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 bf f4 f8"},
                                         TypeRow{"int16", "i2 i2 i2 i4 i8 i2 i4 i8 f8 f4 f4 f4 f8"},
                                         TypeRow{"int32", "i4 i4 i4 i4 i8 i4 i4 i8 f8 f8 f8 f8 f8"},
                                         TypeRow{"int64", "i8 i8 i8 i8 i8 i8 i8 i8 f8 f8 f8 f8 f8"},
                                         TypeRow{"uint8", "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8"},
                                         TypeRow{"uint16", "u2 i4 i4 i4 i8 u2 u2 u4 u8 f4 f4 f4 f8"},
                                         TypeRow{"uint32", "u4 i8 i8 i8 i8 u4 u4 u4 u8 f8 f8 f8 f8"},
                                         TypeRow{"uint64", "u8 f8 f8 f8 f8 u8 u8 u8 u8 f8 f8 f8 f8"},
                                         TypeRow{"float16", "f2 f2 f4 f8 f8 f2 f4 f8 f8 f2 f4 f4 f8"},
                                         TypeRow{"bfloat16", "bf bf f4 f8 f8 bf f4 f8 f8 f4 bf f4 f8"},
                                         TypeRow{"float32", "f4 f4 f4 f8 f8 f4 f4 f8 f8 f4 f4 f4 f8"},
                                         TypeRow{"float64", "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8"}));

std::string types_of(const Function& function) {
  std::string found;
  for (std::string_view type : kTypes) {
    const Result<Array> result = eval(function, {ones(type)});
    found += (found.empty() ? "" : " ") + (result ? short_name(result->type()) : "--");
  }
  return found;
}

// The types of NumPy: (ones(1, type) + True).dtype, + 2, + 2.5. With ml_dtypes, bfloat16 + 2.5 is float32; in Stoker, a
// Python float does not change any float type.
TEST(PlainNumbers, TakeTheTypeOfTheOtherOperandAsInNumPy) {
  EXPECT_EQ(types_of([](Value x) { return x + true; }), "b i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8");
  EXPECT_EQ(types_of([](Value x) { return x + 2; }), "i8 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8");
  EXPECT_EQ(types_of([](Value x) { return 2 + x; }), "i8 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8");
  EXPECT_EQ(types_of([](Value x) { return x + 2.5; }), "f8 f8 f8 f8 f8 f8 f8 f8 f8 f2 bf f4 f8");
}

TEST(PlainNumbers, ThatDoNotFitAreRejected) {
  EXPECT_EQ(complaint([](Value x) { return x + 300; }, {ones("uint8")}),
            "the number 300 does not fit uint8; cast the other operand first");
  EXPECT_EQ(complaint([](Value x) { return x - -1; }, {ones("uint64")}),
            "the number -1 does not fit uint64; cast the other operand first");
}

TEST(PlainNumbers, AloneAreInt32AndFloat32AsInTensorFlow) {
  EXPECT_EQ(eval([](Value) { return Value(3); }, {ones("int8")})->type(), DType::kInt32);
  EXPECT_EQ(eval([](Value) { return Value(int64_t{1} << 40); }, {ones("int8")})->type(), DType::kInt64);
  EXPECT_EQ(eval([](Value) { return Value(1) + Value(2); }, {ones("int8")})->type(), DType::kInt32);
  EXPECT_EQ(*eval([](Value) { return Value(1) + Value(2.5); }, {ones("int8")}), Array::of(3.5f));
}

// The types of NumPy: op(ones(1, type), ones(1, type)).dtype, or "--" if NumPy raises an error.
TEST(Arithmetic, ReturnsTheTypesOfNumPy) {
  const std::string same = "b i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8";
  EXPECT_EQ(types_of([](Value x) { return x + x; }), same);
  EXPECT_EQ(types_of([](Value x) { return x - x; }), "-- i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8");
  EXPECT_EQ(types_of([](Value x) { return x * x; }), same);
  EXPECT_EQ(types_of([](Value x) { return x / x; }), "f8 f8 f8 f8 f8 f8 f8 f8 f8 f2 bf f4 f8");
  const std::string bool_as_int8 = "i1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8";
  EXPECT_EQ(types_of([](Value x) { return floor_divide(x, x); }), bool_as_int8);
  EXPECT_EQ(types_of([](Value x) { return x % x; }), bool_as_int8);
  EXPECT_EQ(types_of([](Value x) { return power(x, x); }), bool_as_int8);
  EXPECT_EQ(types_of([](Value x) { return minimum(x, x); }), same);
  EXPECT_EQ(types_of([](Value x) { return maximum(x, x); }), same);
  EXPECT_EQ(types_of([](Value x) { return -x; }), "-- i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8");
  EXPECT_EQ(types_of([](Value x) { return absolute(x); }), same);
}

TEST(Arithmetic, RejectsStrings) {
  EXPECT_EQ(complaint(kSum, {Array::of_bytes("a"), Array::of_bytes("b")}), "expected numbers, got string and string");
  EXPECT_EQ(complaint(kSum, {Array::of_bytes("a"), Array::of(1)}), "expected numbers, got string and int32");
  EXPECT_EQ(complaint([](Value x) { return -x; }, {Array::of_bytes("a")}), "expected numbers, got string");
  EXPECT_EQ(complaint([](Value x) { return x + 1; }, {Array::of_bytes("a")}), "expected numbers, got string and int32");
}

TEST(Arithmetic, NamesTheOperationInItsErrors) {
  const auto result = eval(kSum, {Array::of_bytes("a"), Array::of(1)});
  EXPECT_EQ(result.error().place().stage, "add");
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
}

TEST(Arithmetic, ComputesOddSizesLikeAPlainLoop) {
  for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 257}) {
    std::vector<int64_t> x(static_cast<size_t>(n)), expected(x.size());
    std::vector<float> f(x.size()), g(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<int64_t>(i * 7919) - 1000;
      expected[i] = x[i] * 2 + 1;
      f[i] = static_cast<float>(x[i]) / 3;
      g[i] = f[i] * f[i] - 0.5f;
    }
    EXPECT_EQ(*eval([](Value v) { return v * 2 + 1; }, {array(x)}), array(expected)) << n;
    EXPECT_EQ(*eval([](Value v) { return v * v - 0.5; }, {array(f)}), array(g)) << n;
  }
}

TEST(Arithmetic, WrapsIntegers) {
  EXPECT_EQ(*eval(kSum, {Array::of<int8_t>(127), Array::of<int8_t>(1)}), Array::of<int8_t>(-128));
  EXPECT_EQ(*eval(kSum, {Array::of(INT64_MAX), Array::of<int64_t>(1)}), Array::of(INT64_MIN));
  const Function product = [](Value a, Value b) { return a * b; };
  EXPECT_EQ(*eval(product, {Array::of<uint16_t>(65535), Array::of<uint16_t>(65535)}), Array::of<uint16_t>(1));
  EXPECT_EQ(*eval(product, {Array::of(INT64_MIN), Array::of<int64_t>(-1)}), Array::of(INT64_MIN));
  const Function difference = [](Value a, Value b) { return a - b; };
  EXPECT_EQ(*eval(difference, {Array::of<uint8_t>(1), Array::of<uint8_t>(2)}), Array::of<uint8_t>(255));
  EXPECT_EQ(*eval([](Value a) { return -a; }, {Array::of(INT64_MIN)}), Array::of(INT64_MIN));
  EXPECT_EQ(*eval([](Value a) { return absolute(a); }, {Array::of<int8_t>(-128)}), Array::of<int8_t>(-128));
}

TEST(Arithmetic, RoundsFloat16AndBfloat16Once) {
  const Function quotient = [](Value a, Value b) { return a / b; };
  EXPECT_EQ(*eval(quotient, {Array::of(Float16(1)), Array::of(Float16(3))}), Array::of(Float16(1.0f / 3)));
  EXPECT_EQ(*eval(quotient, {Array::of(Bfloat16(1)), Array::of(Bfloat16(3))}), Array::of(Bfloat16(1.0f / 3)));
}

TEST(Divide, ReturnsFloat64ForIntegersAndInfinityForZero) {
  const Function quotient = [](Value a, Value b) { return a / b; };
  EXPECT_EQ(*eval(quotient, {Array::of(7), Array::of(2)}), Array::of(3.5));
  EXPECT_EQ(*eval(quotient, {Array::of(7), Array::of(0)}), Array::of(kInf));
}

struct Quotient {
  double a, b, floored, rest;
};

// The results of NumPy: floor_divide and remainder of float64
constexpr Quotient kQuotients[] = {
    {7.5, 2.0, 3.0, 1.5},      {7.5, -2.0, -4.0, -0.5},  {7.5, kInf, 0.0, 7.5},
    {7.5, -kInf, -1.0, -kInf}, {7.5, 0.0, kInf, kNan},   {7.5, 0.1, 74.0, 0.09999999999999959},
    {7.5, kNan, kNan, kNan},   {-7.5, 2.0, -4.0, 0.5},   {-7.5, -2.0, 3.0, -1.5},
    {-7.5, kInf, -1.0, kInf},  {-7.5, -kInf, 0.0, -7.5}, {-7.5, 0.0, -kInf, kNan},
    {0.0, 2.0, 0.0, 0.0},      {0.0, -2.0, -0.0, -0.0},  {0.0, -kInf, -0.0, -0.0},
    {-0.0, 2.0, -0.0, 0.0},    {-0.0, -2.0, 0.0, -0.0},  {-0.0, 0.1, -0.0, 0.0},
    {kInf, 2.0, kNan, kNan},   {kInf, 0.0, kInf, kNan},  {1e308, 0.1, kInf, 0.06093288384329992},
    {0.1, -2.0, -1.0, -1.9},   {0.1, 0.1, 1.0, 0.0},     {-7.5, 0.1, -75.0, 4.163336342344337e-16},
};

void expect_same_number(double found, double wanted, const Quotient& q) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(found)) << q.a << " by " << q.b << " returned " << found;
    return;
  }
  EXPECT_EQ(found, wanted) << q.a << " by " << q.b;
  EXPECT_EQ(std::signbit(found), std::signbit(wanted)) << q.a << " by " << q.b;
}

TEST(FloorDivideAndMod, MatchNumPyForFloats) {
  for (const Quotient& q : kQuotients) {
    const Arrays pair{Array::of(q.a), Array::of(q.b)};
    expect_same_number(eval([](Value a, Value b) { return floor_divide(a, b); }, pair)->scalar<double>(), q.floored, q);
    expect_same_number(eval([](Value a, Value b) { return a % b; }, pair)->scalar<double>(), q.rest, q);
  }
}

TEST(FloorDivideAndMod, MatchPythonForIntegers) {
  const Array a = array<int32_t>({7, -7, 7, -7, 6, -6, INT32_MIN, INT32_MIN});
  const Array b = array<int32_t>({2, 2, -2, -2, 3, 3, -1, 3});
  EXPECT_EQ(*eval([](Value x, Value y) { return floor_divide(x, y); }, {a, b}),
            array<int32_t>({3, -4, -4, 3, 2, -2, INT32_MIN, -715827883}));
  EXPECT_EQ(*eval([](Value x, Value y) { return x % y; }, {a, b}), array<int32_t>({1, 1, -1, -1, 0, 0, 0, 1}));
  EXPECT_EQ(*eval([](Value x, Value y) { return floor_divide(x, y); },
                  {Array::of<uint64_t>(UINT64_MAX), Array::of<uint64_t>(2)}),
            Array::of<uint64_t>(UINT64_MAX / 2));
}

TEST(FloorDivideAndMod, FailTheRowThatDividesAnIntegerByZero) {
  const auto run = run_of({Column(array<int64_t>({10, 11, 12, 13})), Column(array<int64_t>({3, 0, 4, 0}))});
  for (const Function& function : {Function([](Value a, Value b) { return floor_divide(a, b); }),
                                   Function([](Value a, Value b) { return a % b; })}) {
    auto copy = run;
    Context context;
    ASSERT_TRUE(function.apply(copy, context).ok());
    ASSERT_EQ(copy.failed.size(), 2u);
    EXPECT_EQ(copy.failed[0].row, 1);
    EXPECT_EQ(copy.failed[1].row, 3);
    EXPECT_EQ(copy.failed[0].error.message(), "integer division by zero");
    EXPECT_EQ(copy.failed[0].error.code(), Code::kInvalidArgument);
    EXPECT_EQ(copy.columns[0].size(), 4);
  }
}

TEST(Power, OfIntegersWrapsAndRejectsNegativePowers) {
  const Function raised = [](Value a, Value b) { return power(a, b); };
  EXPECT_EQ(*eval(raised, {array<int32_t>({2, -3, 0, 7}), array<int32_t>({10, 3, 0, 1})}),
            array<int32_t>({1024, -27, 1, 7}));
  EXPECT_EQ(*eval(raised, {Array::of<uint8_t>(2), Array::of<uint8_t>(8)}), Array::of<uint8_t>(0));
  EXPECT_EQ(complaint(raised, {Array::of(2), Array::of(-1)}),
            "an integer cannot be raised to a negative power; cast it to a float first");
}

double raised(double x, double y) {
  return eval([](Value a, Value b) { return power(a, b); }, {Array::of(x), Array::of(y)})->scalar<double>();
}

TEST(Power, OfFloatsHandlesTheSpecialCases) {
  EXPECT_EQ(raised(kNan, 0), 1);
  EXPECT_EQ(raised(1, kNan), 1);
  EXPECT_TRUE(std::isnan(raised(-2, 0.5)));
  EXPECT_EQ(raised(0, -1), kInf);
  EXPECT_EQ(raised(-0.0, -1), -kInf);
  EXPECT_EQ(raised(-0.0, -2), kInf);
  EXPECT_TRUE(std::signbit(raised(-0.0, 3)));
  EXPECT_EQ(raised(-kInf, 3), -kInf);
  EXPECT_EQ(raised(-1, kInf), 1);
  EXPECT_EQ(raised(0.5, -kInf), kInf);
  EXPECT_EQ(raised(2, 1e300), kInf);
  EXPECT_EQ(raised(2, -1e300), 0);
  EXPECT_EQ(raised(-2, 3), -8);
}

TEST(Power, IsExactIfTheResultIsRepresentable) {
  for (int base = 2; base < 40; ++base) {
    double exact = 1;
    for (int exponent = 0; exact < 0x1p53; ++exponent, exact *= base) {
      EXPECT_EQ(power_of(base, exponent), exact) << base << " ** " << exponent;
      EXPECT_EQ(power_of(exact, 1), exact);
    }
  }
  EXPECT_EQ(power_of(0x1p-1022, 1), 0x1p-1022);
  EXPECT_EQ(power_of(0x1p-537, 2), 0x1p-1074);
  EXPECT_EQ(power_of(4, 0.5), 2);
}

// The long double of x86 has 64 bits, which is enough to check the last of 53.
TEST(Power, IsAccurateToSlightlyMoreThanHalfAUnitInTheLastPlace) {
  if (std::numeric_limits<long double>::digits < 64)
    GTEST_SKIP() << "long double is not wider than double on this machine";
  Rng rng(1, 2, 3, 4);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = std::exp((rng.uniform() - 0.5) * (i % 2 ? 4 : 400));
    const double y = (rng.uniform() - 0.5) * (i % 3 ? 6 : 600);
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (exact < 0x1p-1000 || exact > 0x1p1000) continue;
    const double found = power_of(x, y);
    const double place = std::nextafter(std::abs(found), kInf) - std::abs(found);
    worst = std::max(worst, std::abs(static_cast<double>((static_cast<long double>(found) - exact) / place)));
  }
  EXPECT_LT(worst, 0.6);
}

TEST(MinimumAndMaximum, PropagateNaN) {
  const Array a = array<double>({1, kNan, 3, kNan}), b = array<double>({2, 2, kNan, kNan});
  const Array low = *eval([](Value x, Value y) { return minimum(x, y); }, {a, b});
  const Array high = *eval([](Value x, Value y) { return maximum(x, y); }, {a, b});
  EXPECT_EQ(low.values<double>()[0], 1);
  EXPECT_EQ(high.values<double>()[0], 2);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(low.values<double>()[i])) << i;
    EXPECT_TRUE(std::isnan(high.values<double>()[i])) << i;
  }
}

// ---- shapes

Array counted(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<int32_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<int32_t>(i + 1));
  return Array::from(values).reshaped(dims);
}

// The sum, computed with plain indices.
Array plain_sum(const Array& a, const Array& b, const std::vector<int64_t>& dims) {
  Array out = Array::make(dims, DType::kInt32).value();
  const auto item = [&](const Array& from, int64_t flat) {
    int64_t offset = 0, stride = 1;
    for (size_t k = 1; k <= dims.size(); ++k) {
      const int64_t at = flat % dims[dims.size() - k];
      flat /= dims[dims.size() - k];
      if (k > from.shape().size()) continue;
      const int64_t own = from.shape()[from.shape().size() - k];
      offset += (own == 1 ? 0 : at) * stride;
      stride *= own;
    }
    return from.values<int32_t>()[static_cast<size_t>(offset)];
  };
  for (int64_t i = 0; i < out.count(); ++i)
    out.mutable_values<int32_t>()[static_cast<size_t>(i)] = item(a, i) + item(b, i);
  return out;
}

TEST(Broadcasting, MatchesNumPy) {
  using Shape = std::vector<int64_t>;
  const std::pair<Shape, Shape> pairs[] = {
      {{}, {}},
      {{3}, {}},
      {{}, {3}},
      {{4, 3}, {3}},
      {{3}, {4, 3}},
      {{4, 1}, {3}},
      {{4, 1}, {1, 3}},
      {{2, 4, 3}, {3}},
      {{2, 4, 3}, {4, 1}},
      {{2, 1, 3}, {4, 1}},
      {{40, 30, 3}, {3}},
      {{3}, {40, 30, 3}},
      {{700, 2}, {2}},
      {{2, 700, 3}, {1, 3}},
      {{2, 5, 3}, {2, 1, 3}},
      {{0}, {}},
      {{0}, {1}},
      {{0, 3}, {3}},
      {{1, 0}, {4, 1}},
      {{1, 1, 1}, {2, 1, 2}},
      {{1}, {1, 1}},
      {{65, 3}, {65, 1}},
      {{5, 64}, {64}},
      {{2, 3, 1, 5, 1, 2}, {4, 1, 6, 1}},
  };
  for (const auto& [a, b] : pairs) {
    const Array x = counted(a), y = counted(b);
    const Result<Array> sum = eval(kSum, {x, y});
    ASSERT_TRUE(sum.ok()) << shape_text(a) << shape_text(b) << sum.error().describe();
    EXPECT_EQ(*sum, plain_sum(x, y, {sum->shape().begin(), sum->shape().end()}))
        << shape_text(a) << " and " << shape_text(b);
  }
}

TEST(Broadcasting, NamesBothShapesThatDoNotFit) {
  EXPECT_EQ(complaint(kSum, {counted({2, 3}), counted({4})}), "shapes [2, 3] and [4] cannot be broadcast together");
  EXPECT_EQ(complaint(kSum, {counted({0}), counted({2})}), "shapes [0] and [2] cannot be broadcast together");
}

TEST(Broadcasting, BroadcastsConstantArraysToRows) {
  const Array channels = array<int32_t>({100, 200, 300});
  const Function add_channels = [&](Value x) { return x + Value(channels); };
  EXPECT_EQ(*eval(add_channels, {counted({50, 3})}), plain_sum(counted({50, 3}), channels, {50, 3}));
}

TEST(Rows, OfDifferentShapesAreComputedOneByOne) {
  auto run = run_of({Column(Arrays{counted({2}), counted({3}), Array::of_bytes("not a number"), counted({2, 2})})});
  Context context;
  ASSERT_TRUE(Function([](Value x) { return x * 10; }).apply(run, context).ok());
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].row, 2);
  EXPECT_EQ(run.element(0).leaves[0], array<int32_t>({10, 20}));
  EXPECT_EQ(run.element(1).leaves[0], array<int32_t>({10, 20, 30}));
  EXPECT_EQ(run.element(3).leaves[0], array<int32_t>({10, 20, 30, 40}, {2, 2}));
}

// Results must not depend on the length of runs, so neither may the type of a plain number.
TEST(Rows, OfDifferentTypesDetermineTheTypesOfPlainNumbersSeparately) {
  auto run = run_of({Column(Arrays{Array::of<uint8_t>(1), Array::of(2.5f), Array::of<int64_t>(3)})});
  Context context;
  ASSERT_TRUE(Function([](Value x) { return x + 300; }).apply(run, context).ok());
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].row, 0);
  EXPECT_EQ(run.element(1).leaves[0], Array::of(302.5f));
  EXPECT_EQ(run.element(2).leaves[0], Array::of<int64_t>(303));
}

TEST(Rows, ThatHaveFailedAreSkipped) {
  auto run = run_of({Column(Arrays{Array::of<int64_t>(1), Array(), Array::of<int64_t>(3)})});
  run.fail(1, Error::corrupt("truncated"));
  Context context;
  ASSERT_TRUE(Function([](Value x) { return floor_divide(6, x); }).apply(run, context).ok());
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].error.message(), "truncated");
  EXPECT_EQ(run.element(0).leaves[0], Array::of<int64_t>(6));
  EXPECT_EQ(run.element(2).leaves[0], Array::of<int64_t>(2));
}

}  // namespace
}  // namespace stoker
