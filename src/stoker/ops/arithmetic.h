#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Element-wise arithmetic. Shapes broadcast and types promote as in NumPy 2. Integers wrap around. float16 and bfloat16
// are computed in float32.

struct Add {
  static constexpr std::string_view kName = "add";
  static constexpr std::string_view kDoc = "Add two arrays, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
  Contribution contribution() const;
};

struct Subtract {
  static constexpr std::string_view kName = "subtract";
  static constexpr std::string_view kDoc = "Subtract the second array from the first, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
  Contribution contribution() const;
};

struct Multiply {
  static constexpr std::string_view kName = "multiply";
  static constexpr std::string_view kDoc = "Multiply two arrays, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
  Contribution contribution() const;
};

struct Divide {
  static constexpr std::string_view kName = "divide";
  static constexpr std::string_view kDoc =
      "Divide the first array by the second, element-wise; integers are divided in float64.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
  Contribution contribution() const;
};

struct FloorDivide {
  static constexpr std::string_view kName = "floor_divide";
  static constexpr std::string_view kDoc = "Divide the first array by the second and round down, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Mod {
  static constexpr std::string_view kName = "mod";
  static constexpr std::string_view kDoc =
      "Return the remainder of a division with the sign of the divisor, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Power {
  static constexpr std::string_view kName = "power";
  static constexpr std::string_view kDoc = "Raise the first array to the power of the second, element-wise.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Minimum {
  static constexpr std::string_view kName = "minimum";
  static constexpr std::string_view kDoc = "Return the smaller of two values, element-wise; NaN if either is NaN.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Maximum {
  static constexpr std::string_view kName = "maximum";
  static constexpr std::string_view kDoc = "Return the larger of two values, element-wise; NaN if either is NaN.";
  static constexpr int kInputs = 2;
  static constexpr Plain kPlain = Plain::kOthers;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Negative {
  static constexpr std::string_view kName = "negative";
  static constexpr std::string_view kDoc = "Negate each number.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

struct Absolute {
  static constexpr std::string_view kName = "absolute";
  static constexpr std::string_view kDoc = "Return the absolute value of each number.";
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
