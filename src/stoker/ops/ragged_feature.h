#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// Follows TensorFlow's RaggedFeature: one feature has the values, and others divide them into rows, from the outermost
// dimension to the innermost. Rows that do not fit the values are always an error.
//
// A ragged value is a dict of values and row_splits, in which the values may be such a dict again
// (docs/design/sparse_and_ragged.md). The operation returns one component of it.
struct RaggedFeature {
  static constexpr std::string_view kName = "ragged_feature";
  static constexpr std::string_view kDoc =
      "Decode features of a serialized tf.train.Example with values and row partitions to a component of a ragged "
      "value.";
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
    f.required("key", key, "name of the feature with the values");
    f.required("at", at, "position of the feature in the keys of example_features");
    f.required("dtype", dtype, "type of the values: int64, float32 or string");
    f("partitions", partitions,
      "row_splits, row_lengths, row_starts, row_limits, value_rowids or uniform_row_length, from the outermost on");
    f("partition_keys", partition_keys, "name of the feature of each partition; empty for uniform_row_length");
    f("partition_at", partition_at,
      "position of each in the keys of example_features; for uniform_row_length, the length");
    f("row_splits_dtype", row_splits_dtype, "type of row_splits: int32 or int64");
    f("part", part, "component to return: the number of the row_splits, from the outermost on; -1: the values");
    f("steps", steps, "decode a feature list of a SequenceExample, which adds a dimension");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<void> check_partitions() const;
};

// Returns the number of row_splits that the partitions produce. Innermost uniform rows become dims of the values, not
// row_splits. A vector of records and steps add one each.
size_t ragged_levels(const RaggedFeature& feature);

}  // namespace stoker
