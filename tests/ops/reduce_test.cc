#include "stoker/ops/reduce.h"

#include <cmath>
#include <limits>

#include "stoker/ops/convert.h"
#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

using Axes = std::vector<int64_t>;

Array counted(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<int32_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<int32_t>(i));
  return Array::from(values).reshaped(dims);
}

Array sum(const Array& from, ReduceParams params = {}) {
  return eval([&](Value x) { return reduce_sum(x, params); }, {from}).value();
}

OP_EXAMPLE(ReduceSum{{.axis = Axes{1}}}, float_rows);
OP_EXAMPLE(ReduceMean{{.axis = Axes{-1}, .keepdims = true}}, float_rows);
OP_EXAMPLE(ReduceMax{}, float_rows);
OP_EXAMPLE(ReduceMin{{.axis = Axes{0}}}, image_rows);

TEST(ReduceSum, ReducesAllAxesOrSome) {
  EXPECT_EQ(sum(counted({2, 3})), Array::of<int64_t>(15));
  EXPECT_EQ(sum(counted({2, 3}), {.axis = Axes{0}}), array<int64_t>({3, 5, 7}));
  EXPECT_EQ(sum(counted({2, 3}), {.axis = Axes{-1}}), array<int64_t>({3, 12}));
  EXPECT_EQ(sum(counted({2, 3}), {.axis = Axes{-1}, .keepdims = true}), array<int64_t>({3, 12}, {2, 1}));
  EXPECT_EQ(sum(counted({2, 3}), {.keepdims = true}), array<int64_t>({15}, {1, 1}));
  EXPECT_EQ(sum(counted({2, 2, 2}), {.axis = Axes{0, 2}}), array<int64_t>({0 + 1 + 4 + 5, 2 + 3 + 6 + 7}));
  EXPECT_EQ(sum(counted({2, 2, 2}), {.axis = Axes{1, 0}}), array<int64_t>({0 + 2 + 4 + 6, 1 + 3 + 5 + 7}));
  EXPECT_EQ(sum(counted({2, 3}), {.axis = Axes{}}), array<int64_t>({0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_EQ(sum(Array::of(7)), Array::of<int64_t>(7));
}

TEST(ReduceSum, OfAnEmptyArrayIsZero) {
  EXPECT_EQ(sum(counted({0})), Array::of<int64_t>(0));
  EXPECT_EQ(sum(counted({2, 0}), {.axis = Axes{1}}), array<int64_t>({0, 0}));
  EXPECT_EQ(sum(counted({0, 2}), {.axis = Axes{1}}), array<int64_t>({}));
}

TEST(ReduceSum, EqualsThePlainSumForEverySize) {
  for (int64_t n = 1; n < 70; ++n) EXPECT_EQ(sum(counted({n})), Array::of(n * (n - 1) / 2)) << n;
}

// The types of NumPy: sum(ones(2, type)).dtype
TEST(ReduceSum, ReturnsTheTypesOfNumPy) {
  EXPECT_EQ(sum(array<bool>({true, true})), Array::of<int64_t>(2));
  EXPECT_EQ(sum(array<uint8_t>({200, 200})), Array::of<uint64_t>(400));
  EXPECT_EQ(sum(array<int8_t>({-100, -100})), Array::of<int64_t>(-200));
  EXPECT_EQ(sum(array<float>({0.5f, 0.25f})), Array::of(0.75f));
  EXPECT_EQ(sum(array<int64_t>({INT64_MAX, 1})), Array::of(INT64_MIN));
  EXPECT_EQ(sum(*converted(array<float>({1, 2}), DType::kFloat16)), Array::of(Float16(3)));
  EXPECT_EQ(sum(*converted(array<float>({1, 2}), DType::kBfloat16)), Array::of(Bfloat16(3)));
}

// A float32 running sum would stop at 2^24.
TEST(ReduceSum, OfFloatsKeepsItsPrecision) {
  EXPECT_EQ(sum(array(std::vector<float>(1 << 20, 17.1f))), Array::of(static_cast<float>((1 << 20) * double{17.1f})));
}

// The result of this order of additions, which must never change.
TEST(ReduceSum, AddsInAFixedOrder) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::ldexp(1.0 + i * 0x1p-30, i % 60 - 30));
  double lanes[8] = {};
  for (size_t i = 0; i < values.size(); ++i) lanes[i % 8] += values[i];
  const double expected =
      ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  EXPECT_EQ(sum(array(values)), Array::of(expected));
}

TEST(ReduceMean, OfIntegersIsFloat64) {
  const Function mean = [](Value x) { return reduce_mean(x); };
  EXPECT_EQ(*eval(mean, {array<uint8_t>({255, 254})}), Array::of(254.5));
  EXPECT_EQ(*eval(mean, {array<bool>({true, false})}), Array::of(0.5));
  EXPECT_EQ(*eval(mean, {array<float>({1, 2})}), Array::of(1.5f));
  EXPECT_EQ(*eval([](Value x) { return reduce_mean(x, {.axis = Axes{0, 1}}); }, {counted({4, 5, 3})}),
            array<double>({28.5, 29.5, 30.5}));
  EXPECT_TRUE(std::isnan(eval(mean, {counted({0})})->scalar<double>()));
}

TEST(ReduceMaxAndMin, FindTheLargestAndSmallest) {
  const Array values = array<int8_t>({3, -5, 9, 0, 1, 2, 3, 4, 5, -128, 127, 6}, {3, 4});
  EXPECT_EQ(*eval([](Value x) { return reduce_max(x); }, {values}), Array::of<int8_t>(127));
  EXPECT_EQ(*eval([](Value x) { return reduce_min(x); }, {values}), Array::of<int8_t>(-128));
  EXPECT_EQ(*eval([](Value x) { return reduce_max(x, {.axis = Axes{0}}); }, {values}), array<int8_t>({5, 2, 127, 6}));
  EXPECT_EQ(*eval([](Value x) { return reduce_min(x, {.axis = Axes{1}}); }, {values}), array<int8_t>({-5, 1, -128}));
  EXPECT_EQ(*eval([](Value x) { return reduce_max(x); }, {array<bool>({false, true})}), Array::of(true));
  EXPECT_EQ(*eval([](Value x) { return reduce_max(x); }, {*converted(values, DType::kFloat16)}),
            Array::of(Float16(127)));
}

TEST(ReduceMaxAndMin, PropagateNaNFromEveryPosition) {
  for (size_t at = 0; at < 20; ++at) {
    std::vector<float> values(20, 1);
    values[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(eval([](Value x) { return reduce_max(x); }, {array(values)})->scalar<float>())) << at;
    EXPECT_TRUE(std::isnan(eval([](Value x) { return reduce_min(x); }, {array(values)})->scalar<float>())) << at;
  }
}

TEST(Reduce, RejectsInvalidAxesAndInputs) {
  EXPECT_EQ(complaint([](Value x) { return reduce_max(x); }, {counted({2, 0})}),
            "cannot reduce an empty axis: the array has shape [2, 0]");
  EXPECT_EQ(complaint([](Value x) { return reduce_sum(x, {.axis = Axes{2}}); }, {counted({2, 3})}),
            "axis 2 is out of range for an array with 2 axes");
  EXPECT_EQ(complaint([](Value x) { return reduce_sum(x, {.axis = Axes{0, -2}}); }, {counted({2, 3})}),
            "axis -2 is listed twice");
  EXPECT_EQ(complaint([](Value x) { return reduce_sum(x); }, {Array::of_bytes("a")}), "expected numbers, got string");
}

TEST(Reduce, WorksOnRowsOfDifferentShapes) {
  auto run = run_of({Column(Arrays{counted({3}), counted({2, 2}), counted({1})})});
  Context context;
  ASSERT_TRUE(Function([](Value x) { return reduce_sum(x); }).apply(run, context).ok());
  EXPECT_TRUE(run.failed.empty());
  EXPECT_EQ(run.element(0).leaves[0], Array::of<int64_t>(3));
  EXPECT_EQ(run.element(1).leaves[0], Array::of<int64_t>(6));
  EXPECT_EQ(run.element(2).leaves[0], Array::of<int64_t>(0));
}

}  // namespace
}  // namespace stoker
