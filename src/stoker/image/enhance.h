#pragma once

#include <array>

#include "stoker/image/view.h"

namespace stoker {

// Pillow's ImageEnhance and ImageOps on uint8 pictures of 1 or 3 channels, to
// the bit but for sharpness, which may be one level off. `to` has the size of
// `from` and is not `from`. A factor of 0 takes the quality away, 1 changes
// nothing, more adds to it.

void enhance_brightness(const ImageView& from, float factor, const MutableImageView& to);
void enhance_contrast(const ImageView& from, float factor, const MutableImageView& to);
void enhance_color(const ImageView& from, float factor, const MutableImageView& to);
void enhance_sharpness(const ImageView& from, float factor, const MutableImageView& to);

// Keeps so many bits of each value, 0 to 8.
void posterize(const ImageView& from, int bits, const MutableImageView& to);
// Turns values from `threshold` on into their opposite.
void solarize(const ImageView& from, double threshold, const MutableImageView& to);
// Each channel stretched to the full range.
void stretch_contrast(const ImageView& from, const MutableImageView& to);
// Each channel with its levels equally frequent.
void equalize(const ImageView& from, const MutableImageView& to);

// Pixel (x, y) is that of `from` at (m0 x + m1 y + m2, m3 x + m4 y + m5), centres
// at a half, the nearest one as Pillow has it; black outside. Any type; no |m| is
// above 10^6.
using Affine = std::array<double, 6>;
void affine_nearest(const ImageView& from, const Affine& map, const MutableImageView& to);

// Pillow's rotation about the middle, counterclockwise; between -360 and 360.
Affine rotation(double degrees, int64_t height, int64_t width);

}  // namespace stoker
