#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Element-wise comparisons, which return bools. Shapes broadcast as in NumPy. Integers of any types compare exactly,
// strings byte by byte.

struct Equal {
  static constexpr std::string_view kName = "equal";
  static constexpr std::string_view kDoc = "Compare two arrays element-wise: true where the values are equal.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct NotEqual {
  static constexpr std::string_view kName = "not_equal";
  static constexpr std::string_view kDoc = "Compare two arrays element-wise: true where the values differ.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Less {
  static constexpr std::string_view kName = "less";
  static constexpr std::string_view kDoc =
      "Compare two arrays element-wise: true where the first is less than the second.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct LessEqual {
  static constexpr std::string_view kName = "less_equal";
  static constexpr std::string_view kDoc =
      "Compare two arrays element-wise: true where the first is less than or equal to the second.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Greater {
  static constexpr std::string_view kName = "greater";
  static constexpr std::string_view kDoc =
      "Compare two arrays element-wise: true where the first is greater than the second.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct GreaterEqual {
  static constexpr std::string_view kName = "greater_equal";
  static constexpr std::string_view kDoc =
      "Compare two arrays element-wise: true where the first is greater than or equal to the second.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kCompared;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value operator==(Value a, Value b);
Value operator!=(Value a, Value b);
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);

}  // namespace stoker
