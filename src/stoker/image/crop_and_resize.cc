#include "stoker/image/crop_and_resize.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace stoker {
namespace {

// The position of an output between two inputs.
struct Between {
  bool inside = false;
  int64_t first = 0, second = 0;
  float share = 0;  // of the second input
};

// The positions of all outputs of one axis. NaN is outside.
std::vector<Between> places(float begin, float end, int64_t from, int64_t to, bool nearest) {
  const auto last = static_cast<float>(from - 1);
  const float step = to > 1 ? (end - begin) * last / static_cast<float>(to - 1) : 0;
  std::vector<Between> result;
  for (int64_t i = 0; i < to; ++i) {
    const float at = to > 1 ? begin * last + static_cast<float>(i) * step : 0.5f * (begin + end) * last;
    Between place;
    place.inside = at >= 0 && at <= last;
    if (place.inside) {
      const float low = nearest ? std::round(at) : std::floor(at);
      place.first = std::min(static_cast<int64_t>(low), from - 1);
      place.second = nearest ? place.first : std::min(static_cast<int64_t>(std::ceil(at)), from - 1);
      place.share = nearest ? 0 : at - low;
    }
    result.push_back(place);
  }
  return result;
}

template <typename T>
void fill(const ImageView& from, const std::vector<Between>& down, const std::vector<Between>& across, float outside,
          const MutableImageView& to) {
  const int64_t channels = from.channels;
  for (int64_t y = 0; y < to.height; ++y) {
    const Between& row = down[static_cast<size_t>(y)];
    auto* out = to.row<float>(y);
    for (const Between& column : across) {
      if (!row.inside || !column.inside) {
        out = std::fill_n(out, channels, outside);
        continue;
      }
      const T *top = from.row<T>(row.first), *bottom = from.row<T>(row.second);
      for (int64_t c = 0; c < channels; ++c) {
        const auto mixed = [&](const T* in) {
          const auto left = static_cast<float>(in[column.first * channels + c]);
          const auto right = static_cast<float>(in[column.second * channels + c]);
          return left + (right - left) * column.share;
        };
        const float upper = mixed(top), lower = mixed(bottom);
        *out++ = upper + (lower - upper) * row.share;
      }
    }
  }
}

}  // namespace

void crop_and_resize(const ImageView& from, std::span<const float, 4> box, bool nearest, float outside,
                     const MutableImageView& to) {
  const auto down = places(box[0], box[2], from.height, to.height, nearest);
  const auto across = places(box[1], box[3], from.width, to.width, nearest);
  visit_dtype(from.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>) fill<T>(from, down, across, outside, to);
  });
}

}  // namespace stoker
