#include "stoker/ops/arithmetic.h"

#include <cmath>
#include <limits>
#include <vector>

#include "stoker/core/power.h"
#include "stoker/graph/promotion.h"
#include "stoker/ops/call.h"
#include "stoker/ops/elementwise.h"
#include "stoker/ops/image_steps.h"

namespace stoker {
namespace {

// ---- types

Result<ItemTypes> promoted_types(DType a, DType b) {
  const std::optional<DType> both = promote(a, b);
  if (!both || *both == DType::kBytes) return no_numbers(a, b);
  return ItemTypes{*both, *both};
}

Result<ItemTypes> types_without_bool(DType a, DType b) {
  STOKER_TRY(ItemTypes types, promoted_types(a, b));
  if (types.computed == DType::kBool)
    return Error::invalid("is not defined for bools; compare them, or cast them to integers first");
  return types;
}

Result<ItemTypes> types_with_bool_as_int8(DType a, DType b) {
  STOKER_TRY(ItemTypes types, promoted_types(a, b));
  if (types.computed == DType::kBool) return ItemTypes{DType::kInt8, DType::kInt8};
  return types;
}

Result<ItemTypes> types_of_quotient(DType a, DType b) {
  STOKER_TRY(ItemTypes types, promoted_types(a, b));
  if (!is_float(types.computed)) return ItemTypes{DType::kFloat64, DType::kFloat64};
  return types;
}

Result<ItemTypes> same_type(DType a) {
  if (a == DType::kBytes) return no_numbers(a);
  return ItemTypes{a, a};
}

Result<ItemTypes> same_type_without_bool(DType a) {
  if (a == DType::kBool) return Error::invalid("is not defined for bools; use logical_not");
  return same_type(a);
}

// ---- the operation on one item

// Integers are computed as unsigned numbers of at least 32 bits, whose overflow is defined. Narrower types would be
// promoted to int, whose overflow is undefined.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <typename T>
constexpr bool is_number = !std::is_same_v<T, Bytes>;
template <typename T>
constexpr bool is_number_but_bool = is_number<T> && !std::is_same_v<T, bool>;

template <typename F>
struct Same {
  template <typename T>
  static constexpr bool takes = is_number_but_bool<T>;
  template <typename T>
  static constexpr BinaryLoop loop = &binary_loop<F, T, T, T>;
};
template <typename F>
struct SameAndBool : Same<F> {
  template <typename T>
  static constexpr bool takes = is_number<T>;
};
template <typename F>
struct Floats : Same<F> {
  template <typename T>
  static constexpr bool takes = is_computed_float<T>;
};

struct AddItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};
struct SubtractItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else
      return a - b;
  }
};
struct MultiplyItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};
struct DivideItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    return a / b;
  }
};

// Quotient and remainder as in Python's divmod.
template <typename T>
struct Divided {
  T quotient, remainder;
};
template <typename T>
Divided<T> floor_divided(T a, T b) {  // b is not 0
  if constexpr (std::is_unsigned_v<T>) {
    return {static_cast<T>(a / b), static_cast<T>(a % b)};
  } else if constexpr (std::is_integral_v<T>) {
    if (b == -1)
      return {static_cast<T>(-static_cast<Wrapping<T>>(a)), 0};  // the negative of the lowest number overflows
    const T quotient = static_cast<T>(a / b), remainder = static_cast<T>(a % b);
    const bool lower = remainder != 0 && (remainder < 0) != (b < 0);
    return {static_cast<T>(quotient - lower), static_cast<T>(lower ? remainder + b : remainder)};
  } else {
    T remainder = std::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder == 0) {
      remainder = std::copysign(T{0}, b);
    } else if ((remainder < 0) != (b < 0)) {
      remainder += b;
      quotient -= 1;
    }
    if (quotient == 0) return {std::copysign(T{0}, a / b), remainder};
    T whole = std::floor(quotient);
    if (quotient - whole > T{0.5}) whole += 1;
    return {whole, remainder};
  }
}
struct FloorDivideItem {
  template <typename T>
  T operator()(T a, T b, bool& ok) const {
    if (b != 0) return floor_divided(a, b).quotient;
    if constexpr (std::is_integral_v<T>) {
      ok = false;
      return 0;
    } else {
      return a / b;
    }
  }
};
struct ModItem {
  template <typename T>
  T operator()(T a, T b, bool& ok) const {
    if (b != 0) return floor_divided(a, b).remainder;
    if constexpr (std::is_integral_v<T>) {
      ok = false;
      return 0;
    } else {
      return std::numeric_limits<T>::quiet_NaN();
    }
  }
};
struct PowerItem {
  template <typename T>
  T operator()(T a, T b, bool& ok) const {
    if constexpr (!std::is_integral_v<T>) {
      if (b == 2) return a * a;  // correctly rounded, and faster than power_of
      return static_cast<T>(power_of(a, b));
    } else {
      if constexpr (std::is_signed_v<T>)
        if (b < 0) return ok = false, T{0};
      auto base = static_cast<Wrapping<T>>(a);
      Wrapping<T> result = 1;
      for (auto left = static_cast<std::make_unsigned_t<T>>(b); left; left = static_cast<decltype(left)>(left >> 1)) {
        if (left & 1u) result *= base;
        base *= base;
      }
      return static_cast<T>(result);
    }
  }
};
struct MinimumItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    return a < b || a != a ? a : b;
  }
};
struct MaximumItem {
  template <typename T>
  T operator()(T a, T b, bool&) const {
    return a > b || a != a ? a : b;
  }
};

struct NegativeItem {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(-static_cast<Wrapping<T>>(a));
    else
      return -a;
  }
};
struct AbsoluteItem {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_unsigned_v<T>)  // and bool
      return a;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(a < 0 ? -static_cast<Wrapping<T>>(a) : static_cast<Wrapping<T>>(a));
    else
      return std::abs(a);
  }
};
template <typename F, bool kBool>
struct SameUnary {
  template <typename T>
  static constexpr bool takes = kBool ? is_number<T> : is_number_but_bool<T>;
  template <typename T>
  static constexpr UnaryLoop loop = &unary_loop<F, T, T>;
};

template <typename Family>
constexpr BinaryItems binary(Result<ItemTypes> (*types)(DType, DType), std::string_view complaint = {}) {
  BinaryItems items{types, {}, complaint};
  fill_loops<Family>(items.loops);
  return items;
}
template <typename Family>
constexpr UnaryItems unary(Result<ItemTypes> (*types)(DType)) {
  UnaryItems items{types, {}};
  fill_loops<Family>(items.loops);
  return items;
}

constexpr BinaryItems kAdd = binary<SameAndBool<AddItem>>(&promoted_types);
constexpr BinaryItems kSubtract = binary<Same<SubtractItem>>(&types_without_bool);
constexpr BinaryItems kMultiply = binary<SameAndBool<MultiplyItem>>(&promoted_types);
constexpr BinaryItems kDivide = binary<Floats<DivideItem>>(&types_of_quotient);
constexpr BinaryItems kFloorDivide =
    binary<Same<FloorDivideItem>>(&types_with_bool_as_int8, "integer division by zero");
constexpr BinaryItems kMod = binary<Same<ModItem>>(&types_with_bool_as_int8, "integer division by zero");
constexpr BinaryItems kPower = binary<Same<PowerItem>>(
    &types_with_bool_as_int8, "an integer cannot be raised to a negative power; cast it to a float first");
constexpr BinaryItems kMinimum = binary<SameAndBool<MinimumItem>>(&promoted_types);
constexpr BinaryItems kMaximum = binary<SameAndBool<MaximumItem>>(&promoted_types);
constexpr UnaryItems kNegative = unary<SameUnary<NegativeItem, false>>(&same_type_without_bool);
constexpr UnaryItems kAbsolute = unary<SameUnary<AbsoluteItem, true>>(&same_type);

// ---- rows of images

// Which operand the rows may be.
enum class Rows { kFirst, kEither };

// Supports float32 with one number, or with one number for each channel.
std::optional<RowKernel> row_math_kernel(RowMath math, const RowInput& input) {
  if (input.type != DType::kFloat32 || input.link.constants.size() != 1) return std::nullopt;
  const Result<Array> constant = constant_of(input.link, 0, input.type);
  if (!constant || constant->type() != DType::kFloat32) return std::nullopt;
  if (constant->rank() == 0) {
    return RowKernel{DType::kFloat32, [math, by = constant->scalar<float>()](
                                          const void* row, int64_t width, int64_t channels, void* to, Wanted wanted) {
                       row_math(math, static_cast<const float*>(row), by, width * channels, static_cast<float*>(to),
                                wanted);
                     }};
  }
  if (constant->rank() != 1 || input.channels == 0 || constant->dim(0) != input.channels) return std::nullopt;
  const auto values = constant->values<float>();
  return RowKernel{DType::kFloat32, [math, by = std::vector<float>(values.begin(), values.end())](
                                        const void* row, int64_t width, int64_t channels, void* to, Wanted wanted) {
                     thread_local std::vector<float> repeated;
                     repeated.clear();
                     for (int64_t x = 0; x < width; ++x) repeated.insert(repeated.end(), by.begin(), by.end());
                     row_math(math, static_cast<const float*>(row), repeated.data(), width * channels,
                              static_cast<float*>(to), wanted);
                   }};
}

Contribution row_math_step(RowMath math, Rows rows) {
  return Contribution::of(RowStep{[math, rows](const RowInput& input) -> std::optional<RowKernel> {
    if (rows == Rows::kFirst && input.link.input != 0) return std::nullopt;
    return row_math_kernel(math, input);
  }});
}

}  // namespace

Result<LeafSpec> Add::spec(std::span<const LeafSpec> inputs) const { return items_spec(kAdd, inputs); }
Result<Column> Add::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kAdd, inputs, rows, context);
}
Contribution Add::contribution() const { return row_math_step(RowMath::kAdd, Rows::kEither); }

Result<LeafSpec> Subtract::spec(std::span<const LeafSpec> inputs) const { return items_spec(kSubtract, inputs); }
Result<Column> Subtract::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kSubtract, inputs, rows, context);
}
Contribution Subtract::contribution() const { return row_math_step(RowMath::kSubtract, Rows::kFirst); }

Result<LeafSpec> Multiply::spec(std::span<const LeafSpec> inputs) const { return items_spec(kMultiply, inputs); }
Result<Column> Multiply::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kMultiply, inputs, rows, context);
}
Contribution Multiply::contribution() const { return row_math_step(RowMath::kMultiply, Rows::kEither); }

Result<LeafSpec> Divide::spec(std::span<const LeafSpec> inputs) const { return items_spec(kDivide, inputs); }
Result<Column> Divide::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kDivide, inputs, rows, context);
}
Contribution Divide::contribution() const { return row_math_step(RowMath::kDivide, Rows::kFirst); }

Result<LeafSpec> FloorDivide::spec(std::span<const LeafSpec> inputs) const { return items_spec(kFloorDivide, inputs); }
Result<Column> FloorDivide::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kFloorDivide, inputs, rows, context);
}

Result<LeafSpec> Mod::spec(std::span<const LeafSpec> inputs) const { return items_spec(kMod, inputs); }
Result<Column> Mod::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kMod, inputs, rows, context);
}

Result<LeafSpec> Power::spec(std::span<const LeafSpec> inputs) const { return items_spec(kPower, inputs); }
Result<Column> Power::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kPower, inputs, rows, context);
}

Result<LeafSpec> Minimum::spec(std::span<const LeafSpec> inputs) const { return items_spec(kMinimum, inputs); }
Result<Column> Minimum::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kMinimum, inputs, rows, context);
}

Result<LeafSpec> Maximum::spec(std::span<const LeafSpec> inputs) const { return items_spec(kMaximum, inputs); }
Result<Column> Maximum::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kMaximum, inputs, rows, context);
}

Result<LeafSpec> Negative::spec(std::span<const LeafSpec> inputs) const { return items_spec(kNegative, inputs); }
Result<Column> Negative::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kNegative, inputs, rows, context);
}

Result<LeafSpec> Absolute::spec(std::span<const LeafSpec> inputs) const { return items_spec(kAbsolute, inputs); }
Result<Column> Absolute::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kAbsolute, inputs, rows, context);
}

Value operator+(Value a, Value b) { return call(Add{}, {std::move(a), std::move(b)}); }
Value operator-(Value a, Value b) { return call(Subtract{}, {std::move(a), std::move(b)}); }
Value operator*(Value a, Value b) { return call(Multiply{}, {std::move(a), std::move(b)}); }
Value operator/(Value a, Value b) { return call(Divide{}, {std::move(a), std::move(b)}); }
Value operator%(Value a, Value b) { return call(Mod{}, {std::move(a), std::move(b)}); }
Value operator-(Value a) { return call(Negative{}, {std::move(a)}); }
Value floor_divide(Value a, Value b) { return call(FloorDivide{}, {std::move(a), std::move(b)}); }
Value power(Value base, Value exponent) { return call(Power{}, {std::move(base), std::move(exponent)}); }
Value minimum(Value a, Value b) { return call(Minimum{}, {std::move(a), std::move(b)}); }
Value maximum(Value a, Value b) { return call(Maximum{}, {std::move(a), std::move(b)}); }
Value absolute(Value a) { return call(Absolute{}, {std::move(a)}); }

}  // namespace stoker
