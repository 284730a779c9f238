#pragma once

#include <array>

#include "stoker/core/rng.h"
#include "stoker/image/view.h"

namespace stoker {

// A window of a picture. Where a function says so it may reach beyond the
// picture, which is black there.
struct CropBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const CropBox&) const = default;
};

// A window that lies in the picture, without copying it.
ImageView cropped(const ImageView& picture, const CropBox& box);

// Fills `to`, of the box's size, with a window that may reach beyond `from`.
void take_window(const ImageView& from, const CropBox& box, const MutableImageView& to);

// tf.image.central_crop's: all but equal margins. `fraction` is in (0, 1].
CropBox central_box(int64_t height, int64_t width, double fraction);

// torchvision's CenterCrop: half margins go to the even side. May reach beyond.
CropBox center_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width);

// tf.image.resize_with_crop_or_pad's. May reach beyond.
CropBox crop_or_pad_box(int64_t height, int64_t width, int64_t to_height, int64_t to_width);

using DrawRange = std::array<double, 2>;

// torchvision's RandomResizedCrop: a share of the area within `scale` and
// width / height within `ratio`, tried ten times, else the largest window in
// the middle whose ratio is allowed. Ranges rise and are positive; the picture
// is not empty. The same bits on every machine.
CropBox draw_resized_crop(Rng& rng, int64_t height, int64_t width, const DrawRange& scale, const DrawRange& ratio);

// Fills `to` with the part of `from` that begins at `offset`; as many dims each.
void take_part(const Array& from, Dims offset, Array& to);

}  // namespace stoker
