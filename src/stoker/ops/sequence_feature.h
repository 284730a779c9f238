#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// Features with any number of rows. Their inputs are the records and the result of `example_features` for them, as
// parse_example.h describes.

// Follows TensorFlow's FixedLenSequenceFeature: any number of rows of a fixed shape. For several records, the rows are
// padded to the longest record.
struct FixedLenSequenceFeature {
  static constexpr std::string_view kName = "fixed_len_sequence_feature";
  static constexpr std::string_view kDoc =
      "Decode a feature of a serialized tf.train.Example that consists of rows of a fixed shape.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  bool allow_missing = false;
  std::optional<Array> default_value;
  bool steps = false;

  void describe(Fields& f) {
    f.required("key", key, "name of the feature");
    f.required("at", at, "position of the feature in the keys of example_features");
    f("shape", shape, "shape of one row; empty: a scalar");
    f.required("dtype", dtype, "type of the values: int64, float32 or string");
    f("allow_missing", allow_missing, "a missing feature has no rows; false: it is an error");
    f("default_value", default_value, "value with which shorter records are padded; null: 0 or an empty string");
    f("steps", steps, "decode a feature list of a SequenceExample; each feature is one row");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<int64_t> row_size() const;
  Result<Array> filler() const;
};

// Returns the number of steps in a feature list; 0 if it is missing.
struct SequenceLength {
  static constexpr std::string_view kName = "sequence_length";
  static constexpr std::string_view kDoc = "Return the number of steps in a feature list of a SequenceExample.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;

  void describe(Fields& f) {
    f.required("key", key, "name of the feature list");
    f.required("at", at, "position of the list in the keys of example_features");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

}  // namespace stoker
