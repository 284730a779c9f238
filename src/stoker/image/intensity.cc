#include "stoker/image/intensity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace stoker {
namespace {

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;
template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsHalf<T>;

// The type in which values of T are computed. float16 is rounded after each step.
template <typename T>
using Wide = std::conditional_t<kIsHalf<T>, float, T>;

template <typename T>
Wide<T> rounded(Wide<T> value) {
  return static_cast<Wide<T>>(static_cast<T>(value));
}

template <typename T>
constexpr T kHighest = std::numeric_limits<T>::max();

// ---- floats to integers

// A C cast with the result that x86 gives, defined for every value.
template <typename To, typename From>
To cut(From value) {
  using Via = std::conditional_t<(sizeof(To) < 4 || std::is_same_v<To, int32_t>), int32_t, int64_t>;
  constexpr From kEnd = static_cast<From>(static_cast<double>(kHighest<Via>) + 1.0);
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= kEnd && value < 2 * kEnd) return static_cast<uint64_t>(value - kEnd) + (uint64_t{1} << 63);
  }
  if (!(value >= -kEnd && value < kEnd)) return static_cast<To>(std::numeric_limits<Via>::min());
  return static_cast<To>(static_cast<Via>(value));
}

// The largest float that is at most the largest integer.
template <typename To, typename From>
From highest_float() {
  const auto highest = static_cast<From>(kHighest<To>);
  constexpr int kDigits = std::numeric_limits<From>::digits;
  return std::numeric_limits<To>::digits > kDigits ? std::nextafter(highest, From{0}) : highest;
}

template <typename To, typename From>
To scaled_down(From value, Wide<From> scale, bool saturate) {
  Wide<From> scaled = rounded<From>(static_cast<Wide<From>>(value) * scale);
  if (saturate) {
    const auto low = static_cast<Wide<From>>(std::numeric_limits<To>::min());
    scaled = scaled < low ? low : std::min(scaled, highest_float<To, Wide<From>>());
  }
  return cut<To>(scaled);
}

// ---- integers to integers

template <typename To, typename From>
To stopped(From value) {
  if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(value, kHighest<To>)) return kHighest<To>;
  return static_cast<To>(value);
}

template <typename T>
T floor_quotient(T value, T by) {
  const T quotient = static_cast<T>(value / by);
  return value % by != 0 && value < 0 ? static_cast<T>(quotient - 1) : quotient;
}

// The number of bits of the maximum: scales are powers of two.
template <typename T>
constexpr int kBits = std::numeric_limits<T>::digits;

template <typename To, typename From>
To between_integers(From value, bool saturate) {
  if constexpr (kBits<From> > kBits<To>) {
    const From part = floor_quotient<From>(value, static_cast<From>(From{1} << (kBits<From> - kBits<To>)));
    return saturate ? stopped<To>(part) : static_cast<To>(part);
  } else {
    const To cast = saturate ? stopped<To>(value) : static_cast<To>(value);
    return static_cast<To>(static_cast<uint64_t>(cast) << (kBits<To> - kBits<From>));
  }
}

// ---- any to any

template <typename To, typename From>
void convert_all(const From* from, To* to, bool saturate, int64_t count) {
  if constexpr (kIsFloat<From> && kIsFloat<To>) {
    std::transform(from, from + count, to, [](From value) { return static_cast<To>(static_cast<Wide<From>>(value)); });
  } else if constexpr (kIsFloat<To>) {
    const Wide<To> scale = rounded<To>(static_cast<Wide<To>>(1.0 / static_cast<double>(kHighest<From>)));
    std::transform(from, from + count, to,
                   [&](From value) { return static_cast<To>(rounded<To>(static_cast<Wide<To>>(value)) * scale); });
  } else if constexpr (kIsFloat<From>) {
    const Wide<From> scale = rounded<From>(static_cast<Wide<From>>(static_cast<double>(kHighest<To>) + 0.5));
    std::transform(from, from + count, to, [&](From value) { return scaled_down<To>(value, scale, saturate); });
  } else {
    std::transform(from, from + count, to, [&](From value) { return between_integers<To>(value, saturate); });
  }
}

template <typename T>
constexpr bool kHasIntensity = !std::is_same_v<T, Bytes> && !std::is_same_v<T, bool>;

// In blocks that fit in the cache.
template <typename T>
void brighten(const T* from, float delta, T* to, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    std::transform(from, from + count, to, [&](float value) { return value + delta; });
  } else if constexpr (std::is_same_v<T, Float16>) {
    const float step = rounded<T>(delta);
    std::transform(from, from + count, to, [&](T value) { return T(static_cast<float>(value) + step); });
  } else {
    std::array<float, 1024> piece;
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(piece.size())) {
      const int64_t n = std::min<int64_t>(static_cast<int64_t>(piece.size()), count - i);
      convert_all(from + i, piece.data(), false, n);
      for (int64_t k = 0; k < n; ++k) piece[static_cast<size_t>(k)] += delta;
      convert_all(piece.data(), to + i, true, n);
    }
  }
}

}  // namespace

Result<void> check_intensity(DType type) {
  if (is_integer(type) || is_float(type)) return {};
  return Error::invalid("expected an image of integers or floats, got ", name_of(type));
}

void convert_intensity(const void* from, DType from_type, void* to, DType to_type, bool saturate, int64_t count) {
  visit_dtype(from_type, [&](auto from_zero) {
    visit_dtype(to_type, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      if constexpr (std::is_same_v<From, To>)
        std::copy_n(static_cast<const From*>(from), count, static_cast<To*>(to));
      else if constexpr (kHasIntensity<From> && kHasIntensity<To>)
        convert_all(static_cast<const From*>(from), static_cast<To*>(to), saturate, count);
    });
  });
}

void adjust_brightness(const void* from, DType type, float delta, void* to, int64_t count) {
  visit_dtype(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kHasIntensity<T>) brighten(static_cast<const T*>(from), delta, static_cast<T*>(to), count);
  });
}

}  // namespace stoker
