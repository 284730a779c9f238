#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Parsing serialized tf.train.Examples takes two steps, so that a record is gone
// over once however many features are wanted: `example_features` finds them all,
// and the operation of each feature decodes what was found. Records are one
// string, or a vector of strings.

// Where the features of these names lie in a record: the encoded message of each,
// empty for one that is not there. Others are passed over.
struct ExampleFeatures {
  static constexpr std::string_view kName = "example_features";
  static constexpr std::string_view kDoc =
      "The encoded features of some names in a serialized tf.train.Example, for the operations that decode them.";
  static constexpr int kInputs = 1;
  static constexpr bool kByItem = true;

  std::vector<std::string> keys;
  bool lists = false;

  void describe(Fields& f) {
    f.required("keys", keys, "the names of the features");
    f("lists", lists, "the lists of features of a SequenceExample, instead of its context");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// By the rules of TensorFlow's FixedLenFeature: exactly as many values as the
// shape has. One that is not there is the default, or an error.
struct FixedLenFeature {
  static constexpr std::string_view kName = "fixed_len_feature";
  static constexpr std::string_view kDoc = "One feature of a serialized tf.train.Example, of a fixed shape.";
  static constexpr int kInputs = 2;
  static constexpr bool kByItem = true;

  std::string key;
  int64_t at = 0;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  std::optional<Array> default_value;

  void describe(Fields& f) {
    f.required("key", key, "the name of the feature");
    f.required("at", at, "its place among the names that example_features looked for");
    f("shape", shape, "its shape; empty: one value");
    f.required("dtype", dtype, "int64, float32 or string");
    f("default_value", default_value, "what a missing feature is, of as many values as the shape has; null: an error");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  struct Ready;
  Result<Ready> ready() const;
};

// By the rules of TensorFlow's FixedLenSequenceFeature: any number of rows of a
// fixed shape; several records are filled up to the longest.
struct FixedLenSequenceFeature {
  static constexpr std::string_view kName = "fixed_len_sequence_feature";
  static constexpr std::string_view kDoc = "One feature of a serialized tf.train.Example: rows of a fixed shape.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  bool allow_missing = false;
  std::optional<Array> default_value;
  bool steps = false;

  void describe(Fields& f) {
    f.required("key", key, "the name of the feature");
    f.required("at", at, "its place among the names that example_features looked for");
    f("shape", shape, "the shape of one row; empty: one value");
    f.required("dtype", dtype, "int64, float32 or string");
    f("allow_missing", allow_missing, "a missing feature has no rows; else it is an error");
    f("default_value", default_value, "one value, to fill short records up with; null: 0 or empty");
    f("steps", steps, "a list of features of a SequenceExample, each of them one row");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;

 private:
  Result<int64_t> row_size() const;
  Result<Array> filler() const;
};

// How many steps the list of features has: 0 where there is none.
struct SequenceLength {
  static constexpr std::string_view kName = "sequence_length";
  static constexpr std::string_view kDoc = "How many steps a list of features of a SequenceExample has.";
  static constexpr int kInputs = 2;

  std::string key;
  int64_t at = 0;

  void describe(Fields& f) {
    f.required("key", key, "the name of the list");
    f.required("at", at, "its place among the names that example_features looked for");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// A dict of the features, by their keys.
Value parse_single_example(Value serialized, std::vector<FixedLenFeature> features);

}  // namespace stoker
