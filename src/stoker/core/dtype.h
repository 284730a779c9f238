#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace stoker {

// The type of the values of an array.
enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kBytes,  // byte strings; also text
};

// Returns "int64", "float32" and so on, and "string" for kBytes.
std::string_view name_of(DType type);
// Returns the type of that name, or nothing. Also accepts "bytes" for kBytes.
std::optional<DType> dtype_named(std::string_view name);

constexpr bool is_float(DType type) { return type >= DType::kFloat16 && type <= DType::kFloat64; }
constexpr bool is_signed_integer(DType type) { return type >= DType::kInt8 && type <= DType::kInt64; }
constexpr bool is_unsigned_integer(DType type) { return type >= DType::kUint8 && type <= DType::kUint64; }
constexpr bool is_integer(DType type) { return is_signed_integer(type) || is_unsigned_integer(type); }

// An IEEE half-precision number, for storage only. GCC 12 has no bfloat16, and clang has no
// arithmetic on half-precision numbers without hardware support, so both types only convert from
// and to float.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
  bool operator==(const Float16&) const = default;
};

// The upper half of a float32, rounded to nearest even.
struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value);
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  bool operator==(const Bfloat16&) const = default;
};

// One byte string. A view: the characters belong to another object.
using Bytes = std::string_view;

template <DType>
struct TypeOf;
template <typename T>
struct DTypeOf;

// clang-format off
#define STOKER_DTYPES(X)                                                                                      \
  X(kBool, bool) X(kInt8, int8_t) X(kInt16, int16_t) X(kInt32, int32_t) X(kInt64, int64_t)                    \
  X(kUint8, uint8_t) X(kUint16, uint16_t) X(kUint32, uint32_t) X(kUint64, uint64_t)                           \
  X(kFloat16, Float16) X(kBfloat16, Bfloat16) X(kFloat32, float) X(kFloat64, double) X(kBytes, Bytes)
// clang-format on

#define STOKER_DTYPE_PAIR(name, T)              \
  template <>                                   \
  struct TypeOf<DType::name> {                  \
    using type = T;                             \
  };                                            \
  template <>                                   \
  struct DTypeOf<T> {                           \
    static constexpr DType value = DType::name; \
  };
STOKER_DTYPES(STOKER_DTYPE_PAIR)
#undef STOKER_DTYPE_PAIR

template <typename T>
constexpr DType dtype_of = DTypeOf<T>::value;

template <typename T>
concept ArrayType = requires { DTypeOf<T>::value; };

// Calls `f` with a value-initialized T of the given type and returns its result.
template <typename F>
decltype(auto) visit_dtype(DType type, F&& f) {
  switch (type) {
#define STOKER_DTYPE_CASE(name, T) \
  case DType::name: return f(T{});
    STOKER_DTYPES(STOKER_DTYPE_CASE)
#undef STOKER_DTYPE_CASE
  }
  __builtin_unreachable();
}

// The size of one item in bytes. For kBytes, the size of the view in the table.
inline size_t size_of(DType type) {
  return visit_dtype(type, [](auto zero) { return sizeof(zero); });
}

}  // namespace stoker
