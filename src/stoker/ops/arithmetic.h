#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Arithmetic item by item. Shapes broadcast and types promote as in NumPy 2;
// integers wrap; float16 and bfloat16 are computed in float32.

struct Add {
  static constexpr std::string_view kName = "add";
  static constexpr std::string_view kDoc = "Sum, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Subtract {
  static constexpr std::string_view kName = "subtract";
  static constexpr std::string_view kDoc = "Difference, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Multiply {
  static constexpr std::string_view kName = "multiply";
  static constexpr std::string_view kDoc = "Product, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Divide {
  static constexpr std::string_view kName = "divide";
  static constexpr std::string_view kDoc = "Quotient, item by item; of integers in float64.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct FloorDivide {
  static constexpr std::string_view kName = "floor_divide";
  static constexpr std::string_view kDoc = "Quotient rounded down, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Mod {
  static constexpr std::string_view kName = "mod";
  static constexpr std::string_view kDoc = "Remainder with the divisor's sign, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Power {
  static constexpr std::string_view kName = "power";
  static constexpr std::string_view kDoc = "First input to the power of the second, item by item.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Minimum {
  static constexpr std::string_view kName = "minimum";
  static constexpr std::string_view kDoc = "Smaller of two, item by item; NaN where one is NaN.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Maximum {
  static constexpr std::string_view kName = "maximum";
  static constexpr std::string_view kDoc = "Larger of two, item by item; NaN where one is NaN.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Negative {
  static constexpr std::string_view kName = "negative";
  static constexpr std::string_view kDoc = "The number with its sign turned, item by item.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Absolute {
  static constexpr std::string_view kName = "absolute";
  static constexpr std::string_view kDoc = "The number without its sign, item by item.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator%(Value a, Value b);
Value operator-(Value a);
Value floor_divide(Value a, Value b);
Value power(Value base, Value exponent);
Value minimum(Value a, Value b);
Value maximum(Value a, Value b);
Value absolute(Value a);

}  // namespace stoker
