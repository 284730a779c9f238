#include "stoker/image/normalize.h"

#include <limits>
#include <type_traits>

namespace stoker {
namespace {

template <typename T>
void normalize_values(const T* from, int64_t width, const Normalization& how, const FloatRow& to) {
  const auto channels = static_cast<int64_t>(how.mean.size());
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = how.scale;
    const float mean = how.mean[static_cast<size_t>(c)], std = how.std[static_cast<size_t>(c)];
    float* out = to.values + c * to.channel_step;
    for (int64_t x = 0; x < width; ++x)
      out[x * to.pixel_step] = (static_cast<float>(from[x * channels + c]) * scale - mean) / std;
  }
}

void normalize_bytes(const uint8_t* from, int64_t width, const Normalization& how, FloatRow to) {
  const int64_t done = how.mean.size() == 3 ? normalize_rgb_by_vectors(from, width, how, to) : 0;
  to.values += done * to.pixel_step;
  normalize_values(from + 3 * done, width - done, how, to);
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
  if (type == DType::kUint8) return normalize_bytes(static_cast<const uint8_t*>(row), width, how, to);
  visit_dtype(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>) normalize_values(static_cast<const T*>(row), width, how, to);
  });
}

void normalize_image(const ImageView& from, const Normalization& how, Layout layout, float* to) {
  const int64_t plane = from.height * from.width;
  for (int64_t y = 0; y < from.height; ++y) {
    const FloatRow row = layout == Layout::kPlanes ? FloatRow{to + y * from.width, 1, plane}
                                                   : FloatRow{to + y * from.row_size(), from.channels, 1};
    normalize_row(from.row<std::byte>(y), from.type, from.width, how, row);
  }
}

}  // namespace stoker
