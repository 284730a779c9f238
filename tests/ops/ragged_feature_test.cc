#include "stoker/ops/ragged_feature.h"

#include "support/examples.h"
#include "support/op_example.h"

namespace stoker {
namespace {

// One partition of the feature "v" by the feature "p".
RaggedFeature by(const std::string& partition, int64_t at = 1) {
  return {.key = "v", .partitions = {partition}, .partition_keys = {"p"}, .partition_at = {at}};
}
Array part(RaggedFeature ragged, int64_t number, const Array& records, bool lists = false) {
  ragged.part = number;
  ragged.steps = lists;
  return decode({"v", "p", "q"}, ragged, records, lists);
}
std::string values_and(const Ints& rows) { return ints({{"v", {1, 2, 3, 4}}, {"p", rows}}); }
std::string wrong(const std::string& partition, const Ints& rows) {
  RaggedFeature ragged = by(partition);
  return refusal({"v", "p", "q"}, ragged, one(values_and(rows)));
}

Arrays feature_rows(int64_t row) {
  return record_and_features(ints({{"v", {1, 2, 3, row}}, {"p", {0, row % 4, 4}}}), {"v", "p"});
}

OP_EXAMPLE(
    RaggedFeature{.key = "v", .partitions = {"row_splits"}, .partition_keys = {"p"}, .partition_at = {1}, .part = 0},
    feature_rows);

TEST(RaggedFeature, WithoutPartitionsIsAVectorForOneRecordAndRowsForSeveral) {
  const RaggedFeature plain{.key = "v"};
  EXPECT_EQ(part(plain, -1, one(values_and({}))), array<int64_t>({1, 2, 3, 4}));
  const Array records = vector_of({values_and({}), ints({}), ints({{"v", {9}}})});
  EXPECT_EQ(part(plain, -1, records), array<int64_t>({1, 2, 3, 4, 9}));
  EXPECT_EQ(part(plain, 0, records), array<int32_t>({0, 4, 4, 5}));
}

TEST(RaggedFeature, SupportsEachKindOfPartition) {
  const auto splits = [](const std::string& partition, const Ints& rows) {
    return part(by(partition), 0, one(values_and(rows)));
  };
  const Array expected = array<int32_t>({0, 1, 1, 4});
  EXPECT_EQ(splits("row_splits", {0, 1, 1, 4}), expected);
  EXPECT_EQ(splits("row_lengths", {1, 0, 3}), expected);
  EXPECT_EQ(splits("row_starts", {0, 1, 1}), expected);
  EXPECT_EQ(splits("row_limits", {1, 1, 4}), expected);
  EXPECT_EQ(splits("value_rowids", {0, 2, 2, 2}), expected);
}

TEST(RaggedFeature, ConvertsInnermostUniformRowsToDimsOfTheValues) {
  EXPECT_EQ(part(by("uniform_row_length", 2), -1, one(values_and({}))), array<int64_t>({1, 2, 3, 4}, {2, 2}));
  RaggedFeature both = by("row_lengths");
  both.partitions.push_back("uniform_row_length");
  both.partition_keys.push_back("");
  both.partition_at.push_back(2);
  EXPECT_EQ(part(both, 0, one(values_and({0, 2}))), array<int32_t>({0, 0, 2}));
  EXPECT_EQ(part(both, -1, one(values_and({0, 2}))), array<int64_t>({1, 2, 3, 4}, {2, 2}));
}

TEST(RaggedFeature, NestsPartitionsFromTheOutermostToTheInnermost) {
  RaggedFeature nested = by("row_lengths");
  nested.partitions.push_back("row_splits");
  nested.partition_keys.push_back("q");
  nested.partition_at.push_back(2);
  const std::string record = ints({{"v", {1, 2, 3, 4}}, {"p", {2, 1}}, {"q", {0, 1, 1, 4}}});
  EXPECT_EQ(part(nested, 0, one(record)), array<int32_t>({0, 2, 3}));
  EXPECT_EQ(part(nested, 1, one(record)), array<int32_t>({0, 1, 1, 4}));
  const Array records = vector_of({record, ints({}), record});
  EXPECT_EQ(part(nested, 0, records), array<int32_t>({0, 2, 2, 4}));
  EXPECT_EQ(part(nested, 1, records), array<int32_t>({0, 2, 3, 5, 6}));
  EXPECT_EQ(part(nested, 2, records), array<int32_t>({0, 1, 1, 4, 5, 5, 8}));
}

TEST(RaggedFeature, HasOneMoreDimensionForSteps) {
  const std::string record = steps({{"v", {{1, 2}, {}, {3}}}, {"p", {{1, 1}, {}, {1}}}});
  const RaggedFeature plain{.key = "v"};
  EXPECT_EQ(part(plain, 0, one(record), true), array<int32_t>({0, 2, 2, 3}));
  EXPECT_EQ(part(plain, 0, vector_of({record, ""}), true), array<int32_t>({0, 3, 3}));
  EXPECT_EQ(part(plain, 1, vector_of({record, ""}), true), array<int32_t>({0, 2, 2, 3}));
  EXPECT_EQ(part(by("row_lengths"), 1, one(record), true), array<int32_t>({0, 1, 2, 3}));
  RaggedFeature unlike = by("row_lengths");
  unlike.steps = true;
  EXPECT_EQ(refusal({"v", "p"}, unlike, one(steps({{"v", {{1}, {2}}}, {"p", {{1}}}})), true),
            "the feature 'v' has 2 steps, but its partition 'p' has 1");
}

TEST(RaggedFeature, RejectsRowsThatDoNotFitTheValues) {
  EXPECT_EQ(wrong("row_splits", {0, 1, 5}),
            "the partition 'p' (row_splits) does not fit the 4 values of the feature 'v'");
  for (const Ints& splits : {Ints{1, 4}, Ints{0, 3, 2, 4}, Ints{0, 3}, Ints{0, -1, 4}})
    EXPECT_NE(wrong("row_splits", splits), "");
  EXPECT_NE(wrong("row_lengths", {1, 2}), "");
  EXPECT_NE(wrong("row_lengths", {5, -1}), "");
  EXPECT_NE(wrong("row_lengths", {INT64_MAX, INT64_MAX}), "");
  EXPECT_NE(wrong("row_starts", {1}), "");
  EXPECT_NE(wrong("row_limits", {4, 3}), "");
  EXPECT_NE(wrong("value_rowids", {0, 0, 0}), "");
  EXPECT_NE(wrong("value_rowids", {0, 2, 1, 3}), "");
  EXPECT_NE(wrong("value_rowids", {0, 0, 0, INT64_MAX}), "");
  EXPECT_EQ(refusal({"v"}, by("uniform_row_length", 3), one(values_and({}))),
            "the feature 'v' has 4 values, expected a multiple of 3");
}

TEST(RaggedFeature, RejectsInvalidParameters) {
  const auto words = [](const RaggedFeature& ragged) {
    return decoded({"v", "p"}, ragged).spec(Spec::scalar(DType::kBytes)).error().message();
  };
  EXPECT_EQ(words(by("rows")), "the feature 'v' has the unknown partition 'rows'");
  EXPECT_EQ(words(by("uniform_row_length", 0)), "the feature 'v' has rows of 0 values, expected 1 to 2147483647");
  RaggedFeature floats = by("row_splits");
  floats.row_splits_dtype = DType::kFloat32;
  EXPECT_EQ(words(floats), "row_splits of the feature 'v' have dtype float32, expected int32 or int64");
  RaggedFeature beyond = by("row_splits");
  beyond.part = 1;
  EXPECT_EQ(refusal({"v", "p"}, beyond, one(values_and({0, 4}))),
            "part is 1, but the ragged value has only 1 row_splits");
}

}  // namespace
}  // namespace stoker
