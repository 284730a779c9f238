#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// By the rules of TensorFlow's RaggedFeature: values, and features that say where
// rows of them end, from the outermost dimension to the innermost. Rows that do
// not fit the values are always an error.
//
// A ragged value is a dict of values and row_splits, where the values may be such
// a dict again (docs/design/sparse_and_ragged.md). The operation gives one
// component of it.
struct RaggedFeature {
  static constexpr std::string_view kName = "ragged_feature";
  static constexpr std::string_view kDoc =
      "Features of a serialized tf.train.Example that hold values and rows, as a component of a ragged value.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;
  DType dtype = DType::kInt64;
  std::vector<std::string> partitions;
  std::vector<std::string> partition_keys;
  std::vector<int64_t> partition_at;
  DType row_splits_dtype = DType::kInt32;
  int64_t part = -1;
  bool steps = false;

  void describe(Fields& f) {
    f.required("key", key, "the name of the feature with the values");
    f.required("at", at, "its place among the names that example_features looked for");
    f.required("dtype", dtype, "of the values: int64, float32 or string");
    f("partitions", partitions,
      "row_splits, row_lengths, row_starts, row_limits, value_rowids or uniform_row_length, from outside in");
    f("partition_keys", partition_keys, "the name of each one's feature; of uniform_row_length, none");
    f("partition_at", partition_at, "its place; of uniform_row_length, the length");
    f("row_splits_dtype", row_splits_dtype, "int32 or int64");
    f("part", part, "which row_splits, counted from outside; -1: the values");
    f("steps", steps, "a list of features of a SequenceExample: one dimension more");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<void> check_partitions() const;
};

// How many row_splits the partitions make: uniform rows innermost are no rows but
// dims of the values. Records of a vector, and steps, bring one more each.
size_t ragged_levels(const RaggedFeature& feature);

}  // namespace stoker
