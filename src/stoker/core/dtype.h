#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace stoker {

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
  kBytes,  // byte strings; text is bytes too
};

// "int64", "float32", "string" for kBytes.
std::string_view name_of(DType type);
// Also takes "bytes" for kBytes.
std::optional<DType> dtype_named(std::string_view name);

constexpr bool is_float(DType type) { return type >= DType::kFloat16 && type <= DType::kFloat64; }
constexpr bool is_signed_integer(DType type) { return type >= DType::kInt8 && type <= DType::kInt64; }
constexpr bool is_unsigned_integer(DType type) { return type >= DType::kUint8 && type <= DType::kUint64; }
constexpr bool is_integer(DType type) { return is_signed_integer(type) || is_unsigned_integer(type); }

// IEEE half precision, as stored. GCC 12 has no bfloat16 and clang no
// arithmetic on half without hardware, so both are plain holders.
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

// One byte string; the characters belong to somebody else.
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

// Calls `f` with a value-initialised T for the type and returns what it returns.
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

// Bytes of one item; of a kBytes item, the view that stands in the table.
inline size_t size_of(DType type) {
  return visit_dtype(type, [](auto zero) { return sizeof(zero); });
}

}  // namespace stoker
