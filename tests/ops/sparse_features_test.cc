#include "stoker/ops/sparse_features.h"

#include "support/examples.h"
#include "support/op_example.h"

namespace stoker {
namespace {

struct Sparse {
  Array indices, values, dense_shape;
  bool operator==(const Sparse&) const = default;
};

template <typename T>
Sparse sparse(const std::vector<std::string>& names, T op, const Array& records, bool lists = false) {
  const auto part = [&](const char* name) {
    op.part = name;
    return decode(names, op, records, lists);
  };
  return {part("indices"), part("values"), part("dense_shape")};
}

Array table(const Ints& values, int64_t rank) {
  return Array::from(values).reshaped(std::vector<int64_t>{static_cast<int64_t>(values.size()) / rank, rank});
}

// A record and its features: two indices and two values.
Arrays feature_rows(int64_t row) {
  return record_and_features(ints({{"i", {7, row % 5}}, {"v", {row, 2}}}), {"i", "v"});
}

OP_EXAMPLE(VarLenFeature{.key = "v", .at = 1, .part = "values"}, feature_rows);
OP_EXAMPLE(
    SparseFeature{
        .index_keys = {"i"}, .index_at = {0}, .value_key = "v", .value_at = 1, .size = {9}, .part = "indices"},
    feature_rows);

TEST(VarLenFeature, ReturnsAllValues) {
  const VarLenFeature a{.key = "a", .dtype = DType::kInt64};
  EXPECT_EQ(sparse({"a"}, a, one(ints({{"a", {5, 6}}}))),
            (Sparse{table({0, 1}, 1), array<int64_t>({5, 6}), array<int64_t>({2})}));
  EXPECT_EQ(sparse({"a"}, a, one(ints({}))), (Sparse{table({}, 1), array<int64_t>({}), array<int64_t>({0})}));
}

TEST(VarLenFeature, HasOneMoreDimensionForSeveralRecords) {
  const Array records = vector_of({ints({{"a", {5}}}), ints({}), ints({{"a", {6, 7}}})});
  EXPECT_EQ(sparse({"a"}, VarLenFeature{.key = "a", .dtype = DType::kInt64}, records),
            (Sparse{table({0, 0, 2, 0, 2, 1}, 2), array<int64_t>({5, 6, 7}), array<int64_t>({3, 2})}));
}

TEST(VarLenFeature, HasOneMoreDimensionForSteps) {
  const std::string a = steps({{"a", {{5}, {}, {6, 7}}}}), b = steps({{"a", {{8}}}});
  const VarLenFeature wanted{.key = "a", .dtype = DType::kInt64, .steps = true};
  EXPECT_EQ(sparse({"a"}, wanted, one(a), true),
            (Sparse{table({0, 0, 2, 0, 2, 1}, 2), array<int64_t>({5, 6, 7}), array<int64_t>({3, 2})}));
  EXPECT_EQ(sparse({"a"}, wanted, vector_of({b, "", a}), true),
            (Sparse{table({0, 0, 0, 2, 0, 0, 2, 2, 0, 2, 2, 1}, 3), array<int64_t>({8, 5, 6, 7}),
                    array<int64_t>({3, 3, 2})}));
}

TEST(VarLenFeature, RejectsAnotherType) {
  EXPECT_EQ(
      refusal({"a"}, VarLenFeature{.key = "a", .dtype = DType::kBytes, .part = "values"}, one(ints({{"a", {1}}}))),
      "the feature 'a' is int64, expected string");
  EXPECT_EQ(
      decoded({"a"}, VarLenFeature{.key = "a", .part = "shape"}).spec(Spec::scalar(DType::kBytes)).error().message(),
      "part must be indices, values or dense_shape, got 'shape'");
}

SparseFeature matrix() {
  return {.index_keys = {"y", "x"}, .index_at = {0, 1}, .value_key = "v", .value_at = 2, .size = {10, 20}};
}
const std::vector<std::string> kMatrix = {"y", "x", "v"};

TEST(SparseFeature, SortsTheValuesByTheirIndices) {
  const std::string record = ints({{"y", {3, 1, 1}}, {"x", {0, 7, 2}}, {"v", {10, 20, 30}}});
  EXPECT_EQ(sparse(kMatrix, matrix(), one(record)),
            (Sparse{table({1, 2, 1, 7, 3, 0}, 2), array<int64_t>({30, 20, 10}), array<int64_t>({10, 20})}));
  SparseFeature sorted = matrix();
  sorted.already_sorted = true;
  EXPECT_EQ(sparse(kMatrix, sorted, one(record)).values, array<int64_t>({10, 20, 30}));
}

TEST(SparseFeature, HasOneMoreDimensionForSeveralRecords) {
  const std::string a = ints({{"y", {3, 1}}, {"x", {0, 7}}, {"v", {10, 20}}});
  EXPECT_EQ(sparse(kMatrix, matrix(), vector_of({a, ints({}), a})),
            (Sparse{table({0, 1, 7, 0, 3, 0, 2, 1, 7, 2, 3, 0}, 3), array<int64_t>({20, 10, 20, 10}),
                    array<int64_t>({3, 10, 20})}));
}

TEST(SparseFeature, RejectsADifferentNumberOfIndicesAndValues) {
  SparseFeature values = matrix();
  values.part = "values";
  EXPECT_EQ(refusal(kMatrix, values, one(ints({{"y", {3}}, {"x", {0, 1}}, {"v", {10, 20}}}))),
            "the feature 'y' has 1 indices, expected one for each of the 2 values of 'v'");
  values.size = {10};
  EXPECT_EQ(decoded(kMatrix, values).spec(Spec::scalar(DType::kBytes)).error().message(),
            "the sparse feature of 'v' has 2 index_keys, 2 index_at and 1 sizes, expected the same number of each");
}

}  // namespace
}  // namespace stoker
