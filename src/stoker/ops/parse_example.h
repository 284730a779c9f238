#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// One feature of a serialized tf.train.Example, by the rules of TensorFlow's
// FixedLenFeature: exactly as many values as the shape has. One that is not
// there is the default, or an error. Features nobody asks for are passed over.
struct FixedLenFeature {
  static constexpr std::string_view kName = "fixed_len_feature";
  static constexpr std::string_view kDoc = "One feature of a serialized tf.train.Example, of a fixed shape.";
  static constexpr int kInputs = 1;

  std::string key;
  std::vector<int64_t> shape;
  DType dtype = DType::kFloat32;
  std::optional<Array> default_value;

  void describe(Fields& f) {
    f.required("key", key, "the name of the feature");
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

// A dict of the features, by their keys.
Value parse_single_example(Value serialized, std::vector<FixedLenFeature> features);

}  // namespace stoker
