#include "stoker/ops/shape.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array counted(std::vector<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims) n *= dim;
  std::vector<int32_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<int32_t>(i));
  return Array::from(values).reshaped(dims);
}

using Ints = std::vector<int32_t>;

Ints taken(const Array& from, Getitem what) {
  const Result<Array> found = eval([&](Value x) { return getitem(x, what); }, {from});
  EXPECT_TRUE(found.ok()) << (found ? "" : found.error().describe());
  if (!found) return {};
  const auto values = found->values<int32_t>();
  return {values.begin(), values.end()};
}

OP_EXAMPLE(Getitem{.index = 1}, float_rows);
OP_EXAMPLE(Getitem{.start = -2, .step = -1, .axis = 1}, float_rows);
OP_EXAMPLE(Reshape{.shape = {3, -1}}, float_rows);
OP_EXAMPLE(ExpandDims{.axis = 1}, float_rows);
OP_EXAMPLE(Squeeze{.axis = {2}}, gray_image_rows);
OP_EXAMPLE(ShapeOf{.out_type = DType::kInt64}, float_rows);
OP_EXAMPLE(Concat{.axis = 1}, two_float_rows);
OP_EXAMPLE(Stack{.axis = -1}, two_float_rows);

TEST(Getitem, ReturnsAnItemCountedFromEitherEnd) {
  EXPECT_EQ(taken(counted({5}), {.index = 1}), (Ints{1}));
  EXPECT_EQ(taken(counted({5}), {.index = -1}), (Ints{4}));
  EXPECT_EQ(*eval([](Value x) { return getitem(x, 1); }, {counted({2, 3})}), array<int32_t>({3, 4, 5}));
}

TEST(Getitem, ReturnsRangesAsInPython) {
  const Array five = counted({5});
  EXPECT_EQ(taken(five, {.start = 1, .stop = 4}), (Ints{1, 2, 3}));
  EXPECT_EQ(taken(five, {.start = -2}), (Ints{3, 4}));
  EXPECT_EQ(taken(five, {.stop = -1}), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(taken(five, {.step = 2}), (Ints{0, 2, 4}));
  EXPECT_EQ(taken(five, {.step = -1}), (Ints{4, 3, 2, 1, 0}));
  EXPECT_EQ(taken(five, {.start = 3, .stop = 0, .step = -2}), (Ints{3, 1}));
  EXPECT_EQ(taken(five, {.start = 4, .stop = 1}), (Ints{}));
  EXPECT_EQ(taken(five, {.start = 10}), (Ints{}));
  EXPECT_EQ(taken(five, {.start = -100, .stop = 100}), (Ints{0, 1, 2, 3, 4}));
  EXPECT_EQ(taken(five, {.start = INT64_MIN, .stop = INT64_MAX, .step = INT64_MAX}), (Ints{0}));
  EXPECT_EQ(taken(five, {.step = INT64_MIN}), (Ints{4}));
}

TEST(Getitem, AcceptsAnyAxis) {
  EXPECT_EQ(taken(counted({2, 3}), {.index = 1, .axis = 1}), (Ints{1, 4}));
  EXPECT_EQ(taken(counted({2, 3}), {.start = 1, .axis = -1}), (Ints{1, 2, 4, 5}));
  EXPECT_EQ(taken(counted({2, 2, 2}), {.step = -1, .axis = 1}), (Ints{2, 3, 0, 1, 6, 7, 4, 5}));
}

TEST(Getitem, ReturnsLargePartsAsViews) {
  const Array image = counted({40, 40, 3});
  const Array half = *eval([](Value x) { return getitem(x, {.start = 20}); }, {image});
  EXPECT_EQ(half, image.rows(20, 20));
}

TEST(Getitem, AcceptsStrings) {
  const Array names = array<std::string>({"a", "b", "c", "d"}, {2, 2});
  EXPECT_EQ(*eval([](Value x) { return getitem(x, 1); }, {names}), array<std::string>({"c", "d"}));
  EXPECT_EQ(*eval([](Value x) { return getitem(x, {.index = 0, .axis = 1}); }, {names}),
            array<std::string>({"a", "c"}));
  EXPECT_EQ(*eval([](Value x) { return getitem(getitem(x, 0), 1); }, {names}), Array::of_bytes("b"));
}

TEST(Getitem, RejectsIndicesOutOfRange) {
  const Function third = [](Value x) { return getitem(x, 3); };
  EXPECT_EQ(complaint(third, {counted({3})}), "index 3 is out of range for an axis of size 3");
  EXPECT_EQ(eval(third, {counted({3})}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(complaint(third, {Array::of(1)}), "axis 0 is out of range for an array with 0 axes");
  EXPECT_EQ(complaint([](Value x) { return getitem(x, {.step = 0}); }, {counted({3})}),
            "step is 0, expected a positive or negative number");
  EXPECT_EQ(complaint([](Value x) { return getitem(x, {.index = 1, .stop = 2}); }, {counted({3})}),
            "expected an index or a range, got both");
}

TEST(Getitem, FailsOnlyTheRowsThatAreTooShort) {
  auto run = run_of({Column(Arrays{counted({3}), counted({1}), counted({4})})});
  Context context;
  ASSERT_TRUE(Function([](Value x) { return getitem(x, 2); }).apply(run, context).ok());
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].row, 1);
  EXPECT_EQ(run.failed[0].error.place().stage, "getitem");
  EXPECT_EQ(run.element(2).leaves[0], Array::of(2));
}

TEST(Reshape, KeepsTheValues) {
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {3, 2}}); }, {counted({2, 3})}), counted({3, 2}));
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {-1}}); }, {counted({2, 3})}), counted({6}));
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {}}); }, {counted({1})}), Array::of(0));
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {1, 1}}); }, {Array::of(0)}), counted({1, 1}));
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {1}}); }, {Array::of_bytes("a")}),
            array<std::string>({"a"}));
  EXPECT_EQ(*eval([](Value x) { return reshape(x, {.shape = {0, 5}}); }, {counted({0})}), counted({0, 5}));
}

TEST(Reshape, RejectsShapesThatDoNotFit) {
  EXPECT_EQ(complaint([](Value x) { return reshape(x, {.shape = {4}}); }, {counted({2, 3})}),
            "6 values cannot be reshaped to [4]");
  EXPECT_EQ(complaint([](Value x) { return reshape(x, {.shape = {-1, 4}}); }, {counted({2, 3})}),
            "6 values cannot be reshaped to [?, 4]");
  EXPECT_EQ(complaint([](Value x) { return reshape(x, {.shape = {-1, -1}}); }, {counted({2})}),
            "expected sizes of at least 0 and at most one -1, got shape [?, ?]");
  EXPECT_EQ(complaint([](Value x) { return reshape(x, {.shape = {INT64_MAX, 4}}); }, {counted({2})}),
            "2 values cannot be reshaped to [9223372036854775807, 4]");
  EXPECT_EQ(complaint([](Value x) { return reshape(x, {.shape = std::vector<int64_t>(300, 1)}); }, {counted({1})}),
            "expected at most 64 axes, got 300");
}

TEST(ExpandDimsAndSqueeze, AddAndRemoveAxes) {
  EXPECT_EQ(*eval([](Value x) { return expand_dims(x); }, {counted({2})}), counted({1, 2}));
  EXPECT_EQ(*eval([](Value x) { return expand_dims(x, {.axis = -1}); }, {counted({2})}), counted({2, 1}));
  EXPECT_EQ(*eval([](Value x) { return squeeze(x); }, {counted({1, 2, 1})}), counted({2}));
  EXPECT_EQ(*eval([](Value x) { return squeeze(x, {.axis = {-1}}); }, {counted({1, 2, 1})}), counted({1, 2}));
  EXPECT_EQ(complaint([](Value x) { return squeeze(x, {.axis = {1}}); }, {counted({1, 2, 1})}),
            "axis 1 of an array of shape [1, 2, 1] cannot be removed, expected size 1");
  EXPECT_EQ(complaint([](Value x) { return expand_dims(x, {.axis = 3}); }, {counted({2})}),
            "axis 3 is out of range for an array with 2 axes");
}

TEST(ExpandDims, RejectsTooManyAxes) {
  const Function deep = [](Value x) {
    for (int i = 0; i < 100; ++i) x = expand_dims(x);
    return x;
  };
  EXPECT_EQ(complaint(deep, {Array::of(1)}), "expected at most 64 axes, got 65");
}

TEST(ShapeOf, ReturnsTheShape) {
  EXPECT_EQ(*eval([](Value x) { return shape_of(x); }, {counted({2, 0, 3})}), array<int32_t>({2, 0, 3}));
  EXPECT_EQ(*eval([](Value x) { return shape_of(x, {.out_type = DType::kInt64}); }, {counted({4})}),
            array<int64_t>({4}));
  EXPECT_EQ(*eval([](Value x) { return shape_of(x); }, {Array::of_bytes("abc")}), array<int32_t>({}));
}

TEST(Stack, JoinsAlongANewAxis) {
  const Function pair = [](Value x, Value y) { return stack({x, y}); };
  const Array a = array<int32_t>({1, 2}), b = array<int32_t>({3, 4});
  EXPECT_EQ(*eval(pair, {a, b}), array<int32_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(*eval([](Value x, Value y) { return stack({x, y}, {.axis = -1}); }, {a, b}),
            array<int32_t>({1, 3, 2, 4}, {2, 2}));
  EXPECT_EQ(*eval(pair, {Array::of(1), Array::of(2.5)}), array<double>({1, 2.5}));
  EXPECT_EQ(*eval([](Value x) { return stack({x, 7}); }, {Array::of<uint8_t>(1)}), array<uint8_t>({1, 7}));
  EXPECT_EQ(*eval(pair, {Array::of_bytes("a"), Array::of_bytes("b")}), array<std::string>({"a", "b"}));
  EXPECT_EQ(complaint(pair, {a, Array::of(1)}), "shapes [2] and [] cannot be stacked");
  EXPECT_EQ(complaint(pair, {Array::of(1), Array::of_bytes("a")}), "cannot combine int32 and string");
  EXPECT_EQ(complaint([](Value) { return stack({}); }, {a}), "expected at least one array, got none");
}

TEST(Concat, JoinsAlongAnAxis) {
  const Function along = [](Value x, Value y) { return concat({x, y}); };
  EXPECT_EQ(*eval(along, {array<int32_t>({1, 2}), array<int32_t>({3})}), array<int32_t>({1, 2, 3}));
  EXPECT_EQ(*eval([](Value x, Value y) { return concat({x, y}, {.axis = 1}); }, {counted({2, 2}), counted({2, 1})}),
            array<int32_t>({0, 1, 0, 2, 3, 1}, {2, 3}));
  EXPECT_EQ(*eval(along, {array<std::string>({"a"}), array<std::string>({"b", "c"})}),
            array<std::string>({"a", "b", "c"}));
  EXPECT_EQ(complaint(along, {counted({2, 2}), counted({2, 3})}),
            "shapes [2, 2] and [2, 3] cannot be concatenated along axis 0");
  EXPECT_EQ(complaint(along, {Array::of(1), Array::of(2)}), "scalars cannot be concatenated; use stack");
}

}  // namespace
}  // namespace stoker
