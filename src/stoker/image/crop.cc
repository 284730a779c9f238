#include "stoker/image/crop.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/core/power.h"

namespace stoker {
namespace {

constexpr int kAttempts = 10;

int64_t rounded_to_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

// torchvision pads the left side with the smaller half, and rounds crop offsets as Python's
// round().
int64_t center_start(int64_t size, int64_t to) {
  return to > size ? -((to - size) / 2) : rounded_to_even(static_cast<double>(size - to) / 2.0);
}

int64_t crop_or_pad_start(int64_t size, int64_t to) { return to > size ? -((to - size) / 2) : (size - to) / 2; }

CropBox middle(int64_t height, int64_t width, int64_t to_height, int64_t to_width) {
  return {(height - to_height) / 2, (width - to_width) / 2, to_height, to_width};
}

CropBox widest_allowed(int64_t height, int64_t width, const DrawRange& ratio) {
  const double rows = static_cast<double>(height), columns = static_cast<double>(width);
  const double now = columns / rows;
  if (now < ratio[0]) return middle(height, width, std::max<int64_t>(1, rounded_to_even(columns / ratio[0])), width);
  if (now > ratio[1]) return middle(height, width, height, std::max<int64_t>(1, rounded_to_even(rows * ratio[1])));
  return {0, 0, height, width};
}

void take_rows(const std::byte* from, Dims from_dims, Dims offset, std::byte* to, Dims to_dims, size_t item) {
  if (to_dims.empty()) {
    std::memcpy(to, from, item);
    return;
  }
  size_t from_row = item, to_row = item;
  for (int64_t dim : from_dims.subspan(1)) from_row *= static_cast<size_t>(dim);
  for (int64_t dim : to_dims.subspan(1)) to_row *= static_cast<size_t>(dim);
  from += static_cast<size_t>(offset[0]) * from_row;
  if (from_row == to_row) {
    std::memcpy(to, from, static_cast<size_t>(to_dims[0]) * to_row);
    return;
  }
  for (int64_t i = 0; i < to_dims[0]; ++i, from += from_row, to += to_row)
    take_rows(from, from_dims.subspan(1), offset.subspan(1), to, to_dims.subspan(1), item);
}

}  // namespace

ImageView cropped(const ImageView& image, const CropBox& box) {
  ImageView view = image;
  const auto pixel = image.channels * static_cast<int64_t>(size_of(image.type));
  view.data = image.row<std::byte>(box.top) + box.left * pixel;
  view.height = box.height;
  view.width = box.width;
  return view;
}

void take_window(const ImageView& from, const CropBox& box, const MutableImageView& to) {
  const size_t pixel = static_cast<size_t>(from.channels) * size_of(from.type);
  const int64_t first = std::clamp<int64_t>(-box.left, 0, to.width);
  const int64_t end = std::clamp<int64_t>(from.width - box.left, first, to.width);
  const size_t before = static_cast<size_t>(first) * pixel, after = static_cast<size_t>(to.width - end) * pixel;
  const size_t inside = static_cast<size_t>(end - first) * pixel;
  if (before + inside + after == 0) return;
  for (int64_t y = 0; y < to.height; ++y) {
    auto* out = to.row<std::byte>(y);
    const int64_t source = y + box.top;
    if (source < 0 || source >= from.height || inside == 0) {
      std::memset(out, 0, before + inside + after);
      continue;
    }
    std::memset(out, 0, before);
    std::memcpy(out + before, from.row<std::byte>(source) + static_cast<size_t>(first + box.left) * pixel, inside);
    std::memset(out + before + inside, 0, after);
  }
}

CropBox central_box(int64_t height, int64_t width, double fraction) {
  const auto margin = [&](int64_t size) {
    const auto exact = static_cast<double>(size);
    return static_cast<int64_t>((exact - exact * fraction) / 2);
  };
  const int64_t top = margin(height), left = margin(width);
  return {top, left, height - 2 * top, width - 2 * left};
}

CropBox center_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width) {
  return {center_start(height, to_height), center_start(width, to_width), to_height, to_width};
}

CropBox crop_or_pad_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width) {
  return {crop_or_pad_start(height, to_height), crop_or_pad_start(width, to_width), to_height, to_width};
}

CropBox draw_resized_crop(Rng& rng, int64_t height, int64_t width, const DrawRange& scale, const DrawRange& ratio) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kAttempts; ++i) {
    const double share = area * (scale[0] + (scale[1] - scale[0]) * rng.uniform());
    const double shape = ratio[0] * power_of(ratio[1] / ratio[0], rng.uniform());  // its logarithm is uniform
    const double columns = std::nearbyint(std::sqrt(share * shape)), rows = std::nearbyint(std::sqrt(share / shape));
    if (!(columns >= 1 && columns <= static_cast<double>(width))) continue;
    if (!(rows >= 1 && rows <= static_cast<double>(height))) continue;
    const auto to_height = static_cast<int64_t>(rows), to_width = static_cast<int64_t>(columns);
    const int64_t top = rng.below(height - to_height + 1);
    return {top, rng.below(width - to_width + 1), to_height, to_width};
  }
  return widest_allowed(height, width, ratio);
}

void take_part(const Array& from, Dims offset, Array& to) {
  if (to.count() == 0) return;
  take_rows(static_cast<const std::byte*>(from.raw()), from.shape(), offset, static_cast<std::byte*>(to.mutable_raw()),
            to.shape(), size_of(from.type()));
}

}  // namespace stoker
