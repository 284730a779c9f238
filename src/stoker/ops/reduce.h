#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Reductions over some or all axes. Types follow NumPy: sums of integers are int64 or uint64, means of integers are
// float64. Floats keep their type and are summed in float64, in an order that depends only on the shape.

struct ReduceParams {
  static constexpr int kInputs = 1;

  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;

  void describe(Fields& f) {
    f("axis", axis, "axes to reduce; null: all");
    f("keepdims", keepdims, "keep reduced axes with size 1");
  }
};

struct ReduceSum : ReduceParams {
  static constexpr std::string_view kName = "reduce_sum";
  static constexpr std::string_view kDoc = "Return the sum over axes.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMean : ReduceParams {
  static constexpr std::string_view kName = "reduce_mean";
  static constexpr std::string_view kDoc = "Return the mean over axes; NaN if there are no values.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMax : ReduceParams {
  static constexpr std::string_view kName = "reduce_max";
  static constexpr std::string_view kDoc = "Return the maximum over axes; NaN if a value is NaN.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMin : ReduceParams {
  static constexpr std::string_view kName = "reduce_min";
  static constexpr std::string_view kDoc = "Return the minimum over axes; NaN if a value is NaN.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value reduce_sum(Value value, ReduceParams params = {});
Value reduce_mean(Value value, ReduceParams params = {});
Value reduce_max(Value value, ReduceParams params = {});
Value reduce_min(Value value, ReduceParams params = {});

}  // namespace stoker
