#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Returns one item or a range of one axis: x[index], x[start:stop:step]. Negative positions count from the end, as in
// Python.
struct Getitem {
  static constexpr std::string_view kName = "getitem";
  static constexpr std::string_view kDoc = "Return one item or a range of an axis, as x[1] and x[1:5:2] in Python.";
  static constexpr int kInputs = 1;

  std::optional<int64_t> index;
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;
  int64_t axis = 0;

  void describe(Fields& f) {
    f("index", index, "position of the item; the axis is removed");
    f("start", start, "first position of a range");
    f("stop", stop, "end of a range, not included");
    f("step", step, "distance between items of a range; negative: backward");
    f("axis", axis, "number of the axis");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Returns the same values with another shape.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kDoc = "Return the same values with another shape.";
  static constexpr int kInputs = 1;

  std::vector<int64_t> shape;

  void describe(Fields& f) { f.required("shape", shape, "new shape; one size may be -1 and is then computed"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Adds an axis of size 1.
struct ExpandDims {
  static constexpr std::string_view kName = "expand_dims";
  static constexpr std::string_view kDoc = "Add an axis of size 1.";
  static constexpr int kInputs = 1;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "position of the new axis; negative: from the end"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Removes axes of size 1.
struct Squeeze {
  static constexpr std::string_view kName = "squeeze";
  static constexpr std::string_view kDoc = "Remove axes of size 1.";
  static constexpr int kInputs = 1;

  std::vector<int64_t> axis;

  void describe(Fields& f) { f("axis", axis, "axes to remove, which must have size 1; empty: all axes of size 1"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Returns the shape as an array.
struct ShapeOf {
  static constexpr std::string_view kName = "shape_of";
  static constexpr std::string_view kDoc = "Return the shape of an array as an array.";
  static constexpr int kInputs = 1;

  DType out_type = DType::kInt32;

  void describe(Fields& f) { f("out_type", out_type, "type of the result: int32 or int64"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Joins arrays along an existing axis.
struct Concat {
  static constexpr std::string_view kName = "concat";
  static constexpr std::string_view kDoc = "Concatenate arrays along an axis.";
  static constexpr Plain kPlain = Plain::kOthers;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "axis along which the arrays are joined"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Joins arrays of the same shape along a new axis.
struct Stack {
  static constexpr std::string_view kName = "stack";
  static constexpr std::string_view kDoc = "Stack arrays of the same shape along a new axis.";
  static constexpr Plain kPlain = Plain::kOthers;

  int64_t axis = 0;

  void describe(Fields& f) { f("axis", axis, "position of the new axis; negative: from the end"); }
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
