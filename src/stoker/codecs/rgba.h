#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

// Conversions of pixels with four channels, which several decoders use.

template <typename T>
T grey_of(const T* pixel) {
  if (pixel[0] == pixel[1] && pixel[0] == pixel[2]) return pixel[0];
  // libpng's weights: 0.299, 0.587 and the rest, in 15 bits. 8-bit results are truncated, 16-bit
  // results are rounded.
  constexpr uint32_t half = sizeof(T) == 2 ? 16384 : 0;
  return static_cast<T>((9797u * pixel[0] + 19234u * pixel[1] + 3737u * pixel[2] + half) >> 15);
}

// Converts between 8 and 16 bits. Narrowing drops the lower 8 bits.
template <typename To, typename From>
To sample_as(From sample) {
  if constexpr (sizeof(To) == sizeof(From))
    return sample;
  else if constexpr (sizeof(To) > sizeof(From))
    return static_cast<To>(sample * 257);
  else
    return static_cast<To>(sample >> 8);
}

// Converts a row of RGBA to fewer channels: 1 gray, 2 gray with alpha, 3 RGB, 4 unchanged.
template <typename From, typename To>
void convert_row(const std::byte* from, std::byte* to, int64_t width, int channels) {
  const From* in = reinterpret_cast<const From*>(from);
  To* out = reinterpret_cast<To*>(to);
  for (int64_t x = 0; x < width; ++x, in += 4) {
    if (channels < 3)
      *out++ = sample_as<To>(grey_of(in));
    else
      for (int c = 0; c < 3; ++c) *out++ = sample_as<To>(in[c]);
    if (channels % 2 == 0) *out++ = sample_as<To>(in[3]);
  }
}

}  // namespace stoker
