#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// A sparse value is a dict of three components (docs/design/sparse_and_ragged.md),
// of which each operation here gives the one that `part` names:
//   indices      int64 [n, rank]
//   values       [n]
//   dense_shape  int64 [rank]

// By the rules of TensorFlow's VarLenFeature: any number of values. One that is
// not there has none.
struct VarLenFeature {
  static constexpr std::string_view kName = "var_len_feature";
  static constexpr std::string_view kDoc =
      "One feature of a serialized tf.train.Example, of any length, as a part of a sparse value.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;
  DType dtype = DType::kInt64;
  std::string part;
  bool steps = false;

  void describe(Fields& f) {
    f.required("key", key, "the name of the feature");
    f.required("at", at, "its place among the names that example_features looked for");
    f.required("dtype", dtype, "int64, float32 or string");
    f.required("part", part, "indices, values or dense_shape");
    f("steps", steps, "a list of features of a SequenceExample: one dimension more");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// By the rules of TensorFlow's SparseFeature: the values of one feature at the
// indices that others give. Whether an index lies inside of `size` is not checked.
struct SparseFeature {
  static constexpr std::string_view kName = "sparse_feature";
  static constexpr std::string_view kDoc =
      "Features of a serialized tf.train.Example that hold indices and values, as a part of a sparse value.";
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
    f.required("index_keys", index_keys, "the names of the features with the indices, one for each dimension");
    f.required("index_at", index_at, "their places among the names that example_features looked for");
    f.required("value_key", value_key, "the name of the feature with the values");
    f.required("value_at", value_at, "its place");
    f.required("dtype", dtype, "of the values: int64, float32 or string");
    f.required("size", size, "how far each dimension goes");
    f("already_sorted", already_sorted, "leave the order of the values as it is");
    f.required("part", part, "indices, values or dense_shape");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<void> check_sizes() const;
};

}  // namespace stoker
