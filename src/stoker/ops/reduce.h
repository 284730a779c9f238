#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Sums and the like over some axes or all. Types follow NumPy: sums of
// integers are int64 or uint64, means of integers float64; floats keep their
// type and are summed in float64, in an order that only the shape decides.

struct ReduceParams {
  static constexpr int kInputs = 1;

  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;

  void describe(Fields& f) {
    f("axis", axis, "the axes that go; null: all");
    f("keepdims", keepdims, "leave a dim of 1 where an axis went");
  }
};

struct ReduceSum : ReduceParams {
  static constexpr std::string_view kName = "reduce_sum";
  static constexpr std::string_view kDoc = "Sum over axes.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMean : ReduceParams {
  static constexpr std::string_view kName = "reduce_mean";
  static constexpr std::string_view kDoc = "Mean over axes; NaN where there is nothing.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMax : ReduceParams {
  static constexpr std::string_view kName = "reduce_max";
  static constexpr std::string_view kDoc = "Largest over axes; NaN where one is NaN.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct ReduceMin : ReduceParams {
  static constexpr std::string_view kName = "reduce_min";
  static constexpr std::string_view kDoc = "Smallest over axes; NaN where one is NaN.";
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value reduce_sum(Value value, ReduceParams params = {});
Value reduce_mean(Value value, ReduceParams params = {});
Value reduce_max(Value value, ReduceParams params = {});
Value reduce_min(Value value, ReduceParams params = {});

}  // namespace stoker
