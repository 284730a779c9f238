#include "stoker/image/normalize.h"

#include <limits>
#include <type_traits>

namespace stoker {
namespace {

template <typename T>
float widened(T value) {
  return static_cast<float>(value);
}

// kChannels and kPixelStep known make loops of fixed strides, which compilers turn into vectors; 0: not known.
template <int kChannels, int kPixelStep, typename T>
void normalize_values(const T* from, int64_t width, const Normalization& how, const FloatRow& to) {
  const int64_t channels = kChannels ? kChannels : static_cast<int64_t>(how.mean.size());
  const int64_t step = kPixelStep ? kPixelStep : to.pixel_step;
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = how.scale;
    const float mean = how.mean[static_cast<size_t>(c)], std = how.std[static_cast<size_t>(c)];
    float* out = to.values + c * to.channel_step;
    for (int64_t x = 0; x < width; ++x) out[x * step] = (widened(from[x * channels + c]) * scale - mean) / std;
  }
}

template <typename T>
void normalize_as(const T* from, int64_t width, const Normalization& how, const FloatRow& to) {
  if (how.mean.size() == 3 && to.pixel_step == 1) return normalize_values<3, 1>(from, width, how, to);
  if (how.mean.size() == 3 && to.pixel_step == 3) return normalize_values<3, 3>(from, width, how, to);
  if (how.mean.size() == 1 && to.pixel_step == 1) return normalize_values<1, 1>(from, width, how, to);
  normalize_values<0, 0>(from, width, how, to);
}

}  // namespace

float unit_scale(DType type) {
  if (!is_integer(type)) return 1;
  return visit_dtype(type, [](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return static_cast<float>(1.0 / static_cast<double>(std::numeric_limits<T>::max()));
    else
      return 1.0f;
  });
}

void normalize_row(const void* row, DType type, int64_t width, const Normalization& how, const FloatRow& to) {
  visit_dtype(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>) normalize_as(static_cast<const T*>(row), width, how, to);
  });
}

void normalize_picture(const ImageView& from, const Normalization& how, Layout layout, float* to) {
  const int64_t plane = from.height * from.width;
  for (int64_t y = 0; y < from.height; ++y) {
    const FloatRow row = layout == Layout::kPlanes ? FloatRow{to + y * from.width, 1, plane}
                                                   : FloatRow{to + y * from.row_size(), from.channels, 1};
    normalize_row(from.row<std::byte>(y), from.type, from.width, how, row);
  }
}

}  // namespace stoker
