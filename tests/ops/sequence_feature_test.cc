#include "stoker/ops/sequence_feature.h"

#include "support/examples.h"
#include "support/op_example.h"
#include "support/support.h"

namespace stoker {
namespace {

// A record, and its features or lists "a" and "b".
Arrays feature_rows(int64_t row) { return record_and_features(ints({{"a", {row, 2}}, {"b", {3}}}), {"a", "b"}); }
Arrays list_rows(int64_t row) {
  return record_and_features(steps({{"a", {{row}, {5}}}, {"b", {{6}}}}), {"a", "b"}, /*lists=*/true);
}

OP_EXAMPLE(FixedLenSequenceFeature{.key = "a", .at = 0, .dtype = DType::kInt64, .allow_missing = true}, feature_rows);
OP_EXAMPLE(SequenceLength{.key = "a", .at = 0}, list_rows);

TEST(FixedLenSequence, ReturnsAnyNumberOfRows) {
  const FixedLenSequenceFeature pairs{.key = "a", .shape = {2}, .dtype = DType::kInt64, .allow_missing = true};
  EXPECT_EQ(decode({"a"}, pairs, one(ints({{"a", {1, 2, 3, 4}}}))), array<int64_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(decode({"a"}, pairs, one(ints({}))), array<int64_t>({}, {0, 2}));
  EXPECT_EQ(refusal({"a"}, pairs, one(ints({{"a", {1, 2, 3}}}))),
            "the feature 'a' has 3 values, expected complete rows of shape [2]");
}

TEST(FixedLenSequence, PadsShortRecords) {
  const Array records = vector_of({ints({{"a", {1}}}), ints({}), ints({{"a", {2, 3}}})});
  FixedLenSequenceFeature a{.key = "a", .dtype = DType::kInt64, .allow_missing = true};
  EXPECT_EQ(decode({"a"}, a, records), array<int64_t>({1, 0, 0, 0, 2, 3}, {3, 2}));
  a.default_value = Array::of<int64_t>(-1);
  EXPECT_EQ(decode({"a"}, a, records), array<int64_t>({1, -1, -1, -1, 2, 3}, {3, 2}));
  a.default_value = array<int64_t>({1, 2});
  EXPECT_EQ(refusal({"a"}, a, records), "the default of the feature 'a' has 2 values, expected one value for padding");
}

TEST(FixedLenSequence, DecodesEachStepOfASequenceToARow) {
  const FixedLenSequenceFeature pairs{.key = "a", .shape = {2}, .dtype = DType::kInt64, .steps = true};
  const std::string two = steps({{"a", {{1, 2}, {3, 4}}}}), none = steps({{"a", {}}});
  EXPECT_EQ(decode({"a"}, pairs, one(two), true), array<int64_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(decode({"a"}, pairs, vector_of({none, two}), true), array<int64_t>({0, 0, 0, 0, 1, 2, 3, 4}, {2, 2, 2}));
  EXPECT_EQ(decode({"a"}, SequenceLength{.key = "a"}, vector_of({none, two, ""}), true), array<int64_t>({0, 2, 0}));
  EXPECT_EQ(refusal({"a"}, pairs, one(steps({{"a", {{1, 2}, {3}}}})), true),
            "step 1 of the feature 'a' has 1 values, expected 2 for shape [2]");
  EXPECT_EQ(refusal({"a"}, pairs, one(""), true),
            "the feature 'a' (int64) is missing from the example, which has these feature lists: none; "
            "set allow_missing if it is optional");
}

}  // namespace
}  // namespace stoker
