#pragma once

#include <array>

#include "stoker/image/view.h"

namespace stoker {

// Pillow's ImageEnhance and ImageOps for uint8 images with 1 or 3 channels. The results are
// bit-identical, except that sharpness may differ by one level. `to` has the size of `from` and
// must not overlap it. A factor of 0 removes the property, 1 changes nothing, and more than 1
// increases it.

void enhance_brightness(const ImageView& from, float factor, const MutableImageView& to);
void enhance_contrast(const ImageView& from, float factor, const MutableImageView& to);
void enhance_color(const ImageView& from, float factor, const MutableImageView& to);
void enhance_sharpness(const ImageView& from, float factor, const MutableImageView& to);

// Keeps this many high bits of each value, 0 to 8.
void posterize(const ImageView& from, int bits, const MutableImageView& to);
// Inverts values of at least `threshold`.
void solarize(const ImageView& from, double threshold, const MutableImageView& to);
// Stretches each channel to the full range.
void stretch_contrast(const ImageView& from, const MutableImageView& to);
// Equalizes the histogram of each channel.
void equalize(const ImageView& from, const MutableImageView& to);

// Pixel (x, y) is the pixel of `from` nearest to (m0 x + m1 y + m2, m3 x + m4 y + m5), with pixel
// centers at one half and Pillow's rounding; black outside. Works with any type. No |m| may exceed
// 10^6.
using Affine = std::array<double, 6>;
void affine_nearest(const ImageView& from, const Affine& map, const MutableImageView& to);

// Pillow's rotation around the center, counterclockwise; `degrees` is between -360 and 360.
Affine rotation(double degrees, int64_t height, int64_t width);

}  // namespace stoker
