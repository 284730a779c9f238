#include "stoker/ops/convert.h"

#include <limits>
#include <type_traits>

#include "stoker/graph/promotion.h"

namespace stoker {
namespace {

// The type with which values are read from memory. A bool is read as a byte, because the rows that failed contain
// arbitrary bytes.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

template <typename To, typename From>
To truncated(From value) {
  constexpr From two31 = 2147483648.0;
  constexpr From two63 = 9223372036854775808.0;
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= two63 && value < 2 * two63) return static_cast<uint64_t>(value);
    return static_cast<uint64_t>(truncated<int64_t>(value));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    const bool fits = value >= -two63 && value < two63;
    return static_cast<To>(fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min());
  } else {
    // In double, -2147483648.5 is still inside the range.
    const bool fits = (std::is_same_v<From, float> ? value >= -two31 : value > -two31 - 1) && value < two31;
    return static_cast<To>(fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min());
  }
}

template <typename From, typename To>
Stored<To> convert(Stored<From> value) {
  if constexpr (is_half<From>) {
    if constexpr (std::is_same_v<From, To>)
      return value;
    else
      return convert<float, To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, bool>) {
    return convert<int32_t, To>(value != 0);
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (is_half<To>) {
    if constexpr (std::is_same_v<From, float>)
      return To(value);
    else
      return To(narrowed(static_cast<double>(value)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void convert_all(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const Stored<From>*>(from);
  auto* out = static_cast<Stored<To>*>(to);
  for (int64_t i = 0; i < count; ++i) out[i] = convert<From, To>(in[i]);
}

}  // namespace

void convert_items(const void* from, DType from_type, void* to, DType to_type, int64_t count) {
  visit_dtype(from_type, [&](auto a) {
    visit_dtype(to_type, [&](auto b) {
      using From = decltype(a);
      using To = decltype(b);
      if constexpr (!std::is_same_v<From, Bytes> && !std::is_same_v<To, Bytes>)
        convert_all<From, To>(from, to, count);
      else
        STOKER_CHECK(from_type != DType::kBytes && to_type != DType::kBytes);
    });
  });
}

Result<Array> converted(const Array& array, DType type) {
  if (array.type() == type) return array;
  STOKER_TRY(Array out, Array::make(array.shape(), type));
  convert_items(array.raw(), array.type(), out.mutable_raw(), type, array.count());
  return out;
}

}  // namespace stoker
