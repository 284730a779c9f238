#pragma once

#include <array>

#include "stoker/core/rng.h"
#include "stoker/image/view.h"

namespace stoker {

// A window of an image. Functions that accept a window beyond the image document it; the window is
// black there.
struct CropBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const CropBox&) const = default;
};

// Returns a view of a window, which must be inside the image.
ImageView cropped(const ImageView& image, const CropBox& box);

// Fills `to`, which has the size of the box, with a window that may extend beyond `from`.
void take_window(const ImageView& from, const CropBox& box, const MutableImageView& to);

// The window of tf.image.central_crop: equal margins on both sides. `fraction` is in (0, 1].
CropBox central_box(int64_t height, int64_t width, double fraction);

// The window of torchvision's CenterCrop: half margins are rounded to even. May extend beyond the
// image.
CropBox center_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width);

// The window of tf.image.resize_with_crop_or_pad. May extend beyond the image.
CropBox crop_or_pad_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width);

using DrawRange = std::array<double, 2>;

// torchvision's RandomResizedCrop: a window whose share of the area is within `scale` and whose
// ratio width / height is within `ratio`. Tries ten times, then returns the largest centered window
// with an allowed ratio. Ranges are increasing and positive; the image must not be empty. Returns
// the same window on every machine.
CropBox draw_resized_crop(Rng& rng, int64_t height, int64_t width, const DrawRange& scale, const DrawRange& ratio);

// Fills `to` with the part of `from` that starts at `offset`. All have the same number of dims.
void take_part(const Array& from, Dims offset, Array& to);

}  // namespace stoker
