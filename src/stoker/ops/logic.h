#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Logic item by item on bools, or on numbers of which all but 0 are true.

struct LogicalAnd {
  static constexpr std::string_view kName = "logical_and";
  static constexpr std::string_view kDoc = "Whether both items are true.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct LogicalOr {
  static constexpr std::string_view kName = "logical_or";
  static constexpr std::string_view kDoc = "Whether one of the items is true.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct LogicalNot {
  static constexpr std::string_view kName = "logical_not";
  static constexpr std::string_view kDoc = "Whether the item is not true.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

// Both sides are always computed.
Value operator&&(Value a, Value b);
Value operator||(Value a, Value b);
Value operator!(Value a);

}  // namespace stoker
