#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// A sparse value is a dict of three components (docs/design/sparse_and_ragged.md),
// of which each operation here returns the one that `part` names:
//   indices      int64 [n, rank]
//   values       [n]
//   dense_shape  int64 [rank]

// Follows TensorFlow's VarLenFeature: any number of values. A missing feature has no values.
struct VarLenFeature {
  static constexpr std::string_view kName = "var_len_feature";
  static constexpr std::string_view kDoc =
      "Decode a feature of any length of a serialized tf.train.Example to a component of a sparse value.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;
  DType dtype = DType::kInt64;
  std::string part;
  bool steps = false;

  void describe(Fields& f) {
    f.required("key", key, "name of the feature");
    f.required("at", at, "position of the feature in the keys of example_features");
    f.required("dtype", dtype, "type of the values: int64, float32 or string");
    f.required("part", part, "component to return: indices, values or dense_shape");
    f("steps", steps, "decode a feature list of a SequenceExample, which adds a dimension");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Follows TensorFlow's SparseFeature: the values of one feature at the indices in other features. Indices are not
// checked against `size`.
struct SparseFeature {
  static constexpr std::string_view kName = "sparse_feature";
  static constexpr std::string_view kDoc =
      "Decode features of a serialized tf.train.Example with indices and values to a component of a sparse value.";
  static constexpr int kInputs = 2;

  std::vector<std::string> index_keys;
  std::vector<int64_t> index_at;
  std::string value_key;
  int64_t value_at = 0;
  DType dtype = DType::kInt64;
  std::vector<int64_t> size;
  bool already_sorted = false;
  std::string part;

  void describe(Fields& f) {
    f.required("index_keys", index_keys, "names of the features with the indices, one for each dimension");
    f.required("index_at", index_at, "their positions in the keys of example_features");
    f.required("value_key", value_key, "name of the feature with the values");
    f.required("value_at", value_at, "position of this feature in the keys of example_features");
    f.required("dtype", dtype, "type of the values: int64, float32 or string");
    f.required("size", size, "size of each dimension");
    f("already_sorted", already_sorted, "keep the order of the values; false: sort them by index");
    f.required("part", part, "component to return: indices, values or dense_shape");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<void> check_sizes() const;
};

}  // namespace stoker
