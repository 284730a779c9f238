#include "stoker/graph/promotion.h"

#include <bit>
#include <cmath>
#include <utility>

namespace stoker {
namespace {

DType signed_of_size(size_t size) {
  return size <= 1 ? DType::kInt8 : size <= 2 ? DType::kInt16 : size <= 4 ? DType::kInt32 : DType::kInt64;
}

DType promote_integers(DType a, DType b) {
  if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = is_signed_integer(a) ? a : b;
  const DType without_sign = is_signed_integer(a) ? b : a;
  if (size_of(with_sign) > size_of(without_sign)) return with_sign;
  return size_of(without_sign) == 8 ? DType::kFloat64 : signed_of_size(2 * size_of(without_sign));
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::kFloat32;  // float16 and bfloat16
}

// Returns the smallest float type that represents every value of both types, or float64.
DType promote_mixed(DType real, DType integer) {
  const DType least = size_of(integer) == 1   ? DType::kFloat16
                      : size_of(integer) == 2 ? DType::kFloat32
                                              : DType::kFloat64;
  return size_of(real) >= size_of(least) ? real : least;
}

template <typename T>
Array number_as(const Array& number) {
  const auto convert = [](auto value) -> Array {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
      return Array::of(T(narrowed(static_cast<double>(value))));
    else
      return Array::of(static_cast<T>(value));
  };
  switch (number.type()) {
    case DType::kBool: return convert(number.scalar<bool>());
    case DType::kInt64: return convert(number.scalar<int64_t>());
    default: return convert(number.scalar<double>());
  }
}

}  // namespace

float narrowed(double value) {
  const auto near = static_cast<float>(value);
  if (static_cast<double>(near) == value || value != value) return near;
  auto bits = std::bit_cast<uint32_t>(near);
  const bool rounded_up = std::abs(static_cast<double>(near)) > std::abs(value);
  if (rounded_up) --bits;  // truncates instead
  return std::bit_cast<float>(bits | 1u);
}

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kBytes || b == DType::kBytes) return std::nullopt;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a)) return promote_mixed(a, b);
  if (is_float(b)) return promote_mixed(b, a);
  return promote_integers(a, b);
}

DType plain_type(const Array& number) {
  if (number.type() == DType::kBool) return DType::kBool;
  if (number.type() != DType::kInt64) return DType::kFloat32;
  return std::in_range<int32_t>(number.scalar<int64_t>()) ? DType::kInt32 : DType::kInt64;
}

DType plain_type_next_to(const Array& number, DType other) {
  if (other == DType::kBytes) return plain_type(number);
  if (number.type() == DType::kBool || is_float(other)) return other;
  if (number.type() == DType::kInt64) return other == DType::kBool ? DType::kInt64 : other;
  return DType::kFloat64;
}

Result<Array> plain_as(const Array& number, DType type, Plain rule) {
  return visit_dtype(type, [&](auto zero) -> Result<Array> {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Bytes>) {
      return number;
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (number.type() == DType::kInt64 && !std::in_range<T>(number.scalar<int64_t>())) {
        if (rule == Plain::kCompared) return number;
        return Error::invalid("the number ", number.scalar<int64_t>(), " does not fit ", name_of(type),
                              "; cast the other operand first");
      }
      return number_as<T>(number);
    } else {
      return number_as<T>(number);
    }
  });
}

}  // namespace stoker
