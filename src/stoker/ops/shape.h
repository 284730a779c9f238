#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// One item or a range of one axis: x[index], x[start:stop:step]. Negative
// places count from the end, as in Python.
struct Getitem {
  static constexpr std::string_view kName = "getitem";
  static constexpr std::string_view kDoc = "One item of an axis, or a range of it, as Python's x[1] and x[1:5:2].";
  static constexpr int kInputs = 1;

  std::optional<int64_t> index;
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;
  int64_t axis = 0;

  void describe(Fields& f) {
    f("index", index, "the item; the axis goes");
    f("start", start, "first item of a range");
    f("stop", stop, "where the range ends, itself not in it");
    f("step", step, "distance between items of a range; negative: backwards");
    f("axis", axis, "which axis");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// The same values under other dims.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kDoc = "The same values under another shape.";
  static constexpr int kInputs = 1;

  std::vector<int64_t> shape;

  void describe(Fields& f) { f.required("shape", shape, "the new shape; one dim may be -1, what is left"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Adds a dim of 1.
struct ExpandDims {
  static constexpr std::string_view kName = "expand_dims";
  static constexpr std::string_view kDoc = "The same values with a dim of 1 added.";
  static constexpr int kInputs = 1;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "where the new dim stands; negative: from the end"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Takes dims of 1 away.
struct Squeeze {
  static constexpr std::string_view kName = "squeeze";
  static constexpr std::string_view kDoc = "The same values without dims of 1.";
  static constexpr int kInputs = 1;

  std::vector<int64_t> axis;

  void describe(Fields& f) { f("axis", axis, "the dims to take away, each of which must be 1; empty: all that are 1"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// The dims as values.
struct ShapeOf {
  static constexpr std::string_view kName = "shape_of";
  static constexpr std::string_view kDoc = "The dims of an array, as an array.";
  static constexpr int kInputs = 1;

  DType out_type = DType::kInt32;

  void describe(Fields& f) { f("out_type", out_type, "int32 or int64"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Joins arrays along an axis they have.
struct Concat {
  static constexpr std::string_view kName = "concat";
  static constexpr std::string_view kDoc = "Arrays joined along an axis.";
  static constexpr Plain kPlain = Plain::kOthers;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "the axis along which they follow one another"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Joins arrays of one shape along a new axis.
struct Stack {
  static constexpr std::string_view kName = "stack";
  static constexpr std::string_view kDoc = "Arrays of one shape joined along a new axis.";
  static constexpr Plain kPlain = Plain::kOthers;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "where the new axis stands; negative: from the end"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value getitem(Value value, int64_t index);
Value getitem(Value value, Getitem range);
Value reshape(Value value, Reshape params);
Value expand_dims(Value value, ExpandDims params = {});
Value squeeze(Value value, Squeeze params = {});
Value shape_of(Value value, ShapeOf params = {});
Value concat(std::vector<Value> values, Concat params = {});
Value stack(std::vector<Value> values, Stack params = {});

}  // namespace stoker
