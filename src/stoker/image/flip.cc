#include "stoker/image/flip.h"

#include <cstring>

namespace stoker {
namespace {

// Reverses the pixels of a row. With a constant pixel size, each copy compiles to one move.
template <size_t kPixel>
void reverse(const std::byte* from, int64_t width, size_t pixel, std::byte* to) {
  const size_t size = kPixel ? kPixel : pixel;
  const std::byte* last = from + static_cast<size_t>(width) * size;
  for (int64_t x = 0; x < width; ++x) {
    last -= size;
    std::memcpy(to, last, size);
    to += size;
  }
}

auto reverse_for(size_t pixel) {
  switch (pixel) {
    case 1: return reverse<1>;
    case 3: return reverse<3>;
    case 4: return reverse<4>;
    case 12: return reverse<12>;
    default: return reverse<0>;
  }
}

}  // namespace

void flip_left_right(ImageView from, MutableImageView to) {
  const size_t pixel = static_cast<size_t>(from.channels) * size_of(from.type);
  const auto reverse_row = reverse_for(pixel);
  for (int64_t y = 0; y < from.height; ++y)
    reverse_row(from.row<std::byte>(y), from.width, pixel, to.row<std::byte>(y));
}

void flip_up_down(ImageView from, MutableImageView to) {
  const size_t bytes = static_cast<size_t>(from.row_size()) * size_of(from.type);
  if (bytes == 0) return;
  for (int64_t y = 0; y < from.height; ++y)
    std::memcpy(to.row<std::byte>(y), from.row<std::byte>(from.height - 1 - y), bytes);
}

}  // namespace stoker
