#include "stoker/image/turn.h"

#include <cstring>

namespace stoker {
namespace {

// Pixel (y, x) of `to` is the pixel of `from` at `first` + y * down + x * right bytes.
template <size_t kPixel>
void gather(const std::byte* first, int64_t down, int64_t right, size_t pixel, const MutableImageView& to) {
  const size_t size = kPixel ? kPixel : pixel;
  for (int64_t y = 0; y < to.height; ++y) {
    const std::byte* in = first + y * down;
    auto* out = to.row<std::byte>(y);
    for (int64_t x = 0; x < to.width; ++x, in += right, out += size) std::memcpy(out, in, size);
  }
}

void gather_pixels(const std::byte* first, int64_t down, int64_t right, size_t pixel, const MutableImageView& to) {
  switch (pixel) {
    case 1: return gather<1>(first, down, right, pixel, to);
    case 3: return gather<3>(first, down, right, pixel, to);
    case 4: return gather<4>(first, down, right, pixel, to);
    case 12: return gather<12>(first, down, right, pixel, to);
    default: return gather<0>(first, down, right, pixel, to);
  }
}

}  // namespace

void transpose_pixels(const ImageView& from, const MutableImageView& to) {
  const auto pixel = from.channels * static_cast<int64_t>(size_of(from.type));
  gather_pixels(from.row<std::byte>(0), pixel, from.stride, static_cast<size_t>(pixel), to);
}

void rotate_image(const ImageView& from, int quarters, const MutableImageView& to) {
  if (from.height == 0 || from.row_size() == 0) return;
  const auto pixel = from.channels * static_cast<int64_t>(size_of(from.type));
  const std::byte* last_row = from.row<std::byte>(from.height - 1);
  const int64_t last_pixel = (from.width - 1) * pixel;
  const auto size = static_cast<size_t>(pixel);
  if (quarters == 1) return gather_pixels(from.row<std::byte>(0) + last_pixel, -pixel, from.stride, size, to);
  if (quarters == 2) return gather_pixels(last_row + last_pixel, -from.stride, -pixel, size, to);
  gather_pixels(last_row, pixel, -from.stride, size, to);
}

}  // namespace stoker
