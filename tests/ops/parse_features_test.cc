#include "stoker/ops/parse_features.h"

#include "support/examples.h"

namespace stoker {
namespace {

Element parsed(const Function& function, const Array& records) {
  return eval_element(function, {records}, Shapes::kInPart).value();
}

TEST(ParseFeatures, ReturnsEveryKindOfFeature) {
  const Function parse = [](Value x) {
    return io::parse_single_example(
        x, {{"label", FixedLenFeature{.dtype = DType::kInt64}},
            {"rows", FixedLenSequenceFeature{.key = "v", .shape = {2}, .dtype = DType::kInt64, .allow_missing = true}},
            {"list", VarLenFeature{.key = "v"}},
            {"sparse", SparseFeature{.index_keys = {"i"}, .value_key = "v", .size = {9}}},
            {"ragged", RaggedFeature{.key = "v", .partitions = {"row_lengths"}, .partition_keys = {"n"}}}});
  };
  const Element made =
      parsed(parse, one(ints({{"label", {7}}, {"v", {1, 2, 3, 4}}, {"i", {8, 0, 1, 2}}, {"n", {1, 3}}})));
  EXPECT_EQ(made.nest->describe(),
            "{'label': x, 'rows': x, 'list': {'indices': x, 'values': x, 'dense_shape': x}, 'sparse': {'indices': x, "
            "'values': x, 'dense_shape': x}, 'ragged': {'values': x, 'row_splits': x}}");
  EXPECT_EQ(made["label"], Array::of<int64_t>(7));
  EXPECT_EQ(made["rows"], array<int64_t>({1, 2, 3, 4}, {2, 2}));
}

TEST(ParseFeatures, ReturnsOneValueForSeveralRecords) {
  const Function parse = [](Value x) { return io::parse_example(x, {{"v", RaggedFeature{}}})["v"]; };
  const Element made = parsed(parse, vector_of({ints({{"v", {1}}}), ints({{"v", {2, 3}}})}));
  EXPECT_EQ(made["values"], array<int64_t>({1, 2, 3}));
  EXPECT_EQ(made["row_splits"], array<int32_t>({0, 1, 3}));
}

TEST(ParseFeatures, ReturnsTheContextTheListsAndTheirLengthsOfSequences) {
  const Function parse = [](Value x) {
    const Value all = io::parse_sequence_example(
        x, {{"id", FixedLenFeature{.dtype = DType::kInt64}}},
        {{"x", FixedLenSequenceFeature{.dtype = DType::kInt64}}, {"r", RaggedFeature{.key = "x"}}});
    return tuple(all[0]["id"], all[1]["x"], all[1]["r"]["values"]["row_splits"], all[2]["x"]);
  };
  SequenceExampleWriter writer;
  writer.context.set("id", Ints{5});
  writer.add_step("x", Ints{6});
  const Element made = parsed(parse, vector_of({writer.serialized()}));
  EXPECT_EQ(made[0], array<int64_t>({5}));
  EXPECT_EQ(made[1], array<int64_t>({6}, {1, 1}));
  EXPECT_EQ(made[2], array<int32_t>({0, 1}));
  EXPECT_EQ(made[3], array<int64_t>({1}));
}

}  // namespace
}  // namespace stoker
