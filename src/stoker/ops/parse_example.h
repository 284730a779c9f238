#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Parsing serialized tf.train.Examples takes two steps, so that each record is scanned once, regardless of the number
// of features: `example_features` finds all of them, and one operation per feature decodes what was found. The input is
// one record (a string) or a vector of records.

// Returns the encoded message of each feature, or an empty string for a missing feature. Other features are skipped.
struct ExampleFeatures {
  static constexpr std::string_view kName = "example_features";
  static constexpr std::string_view kDoc =
      "Find features in a serialized tf.train.Example and return their encoded messages for other operations.";
  static constexpr int kInputs = 1;
  static constexpr bool kByItem = true;

  std::vector<std::string> keys;
  bool lists = false;

  void describe(Fields& f) {
    f.required("keys", keys, "names of the features");
    f("lists", lists, "find the feature lists of a SequenceExample instead of its context");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Follows TensorFlow's FixedLenFeature: the number of values must match the shape. A missing feature has the default,
// or is an error if there is no default.
struct FixedLenFeature {
  static constexpr std::string_view kName = "fixed_len_feature";
  static constexpr std::string_view kDoc = "Decode a feature of fixed shape of a serialized tf.train.Example.";
  static constexpr int kInputs = 2;
  static constexpr bool kByItem = true;

  std::string key;
  int64_t at = 0;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  std::optional<Array> default_value;

  void describe(Fields& f) {
    f.required("key", key, "name of the feature");
    f.required("at", at, "position of the feature in the keys of example_features");
    f("shape", shape, "shape of the feature; empty: a scalar");
    f.required("dtype", dtype, "type of the values: int64, float32 or string");
    f("default_value", default_value,
      "values of a missing feature, as many as the shape has; null: a missing feature is an error");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  struct Ready;
  Result<Ready> ready() const;
};

namespace io {

// Returns a dict of the features by their keys.
Value parse_single_example(Value serialized, std::vector<FixedLenFeature> features);

}  // namespace io

}  // namespace stoker
