#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Element-wise logic on bools, or on numbers, of which all but 0 are true.

struct LogicalAnd {
  static constexpr std::string_view kName = "logical_and";
  static constexpr std::string_view kDoc = "Combine two arrays element-wise: true where both values are true.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct LogicalOr {
  static constexpr std::string_view kName = "logical_or";
  static constexpr std::string_view kDoc = "Combine two arrays element-wise: true where at least one value is true.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct LogicalNot {
  static constexpr std::string_view kName = "logical_not";
  static constexpr std::string_view kDoc = "Invert each value: true where it is false.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Both operands are always computed.
Value operator&&(Value a, Value b);
Value operator||(Value a, Value b);
Value operator!(Value a);

}  // namespace stoker
