#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/view.h"

namespace stoker {

// The color operations of tf.image, in float32. Pixels have three values: red, green and blue, or
// as the name of the function indicates. `to` may be `from`.

void adjust_hue(const float* from, float delta, float* to, int64_t pixels);
void adjust_saturation(const float* from, float factor, float* to, int64_t pixels);
void rgb_to_hsv(const float* from, float* to, int64_t pixels);
void hsv_to_rgb(const float* from, float* to, int64_t pixels);

// Multiplies row vectors by a matrix, which is stored by rows.
using Matrix = std::array<float, 9>;
void times_matrix(const float* from, const Matrix& matrix, float* to, int64_t pixels);
inline constexpr Matrix kRgbToYuv = {0.299f,       -0.14714119f, 0.61497538f, 0.587f,      -0.28886916f,
                                     -0.51496512f, 0.114f,       0.43601035f, -0.10001026f};
inline constexpr Matrix kYuvToRgb = {1, 1, 1, 0, -0.394642334f, 2.03206185f, 1.13988303f, -0.58062185f, 0};
inline constexpr Matrix kRgbToYiq = {0.299f,       0.59590059f, 0.2115f,      0.587f,     -0.27455667f,
                                     -0.52273617f, 0.114f,      -0.32134392f, 0.31119955f};
inline constexpr Matrix kYiqToRgb = {
    1, 1, 1, 0.95598634f, -0.27201283f, -1.10674021f, 0.6208248f, -0.64720424f, 1.70423049f};

// Writes one value per pixel.
void rgb_to_grayscale(const float* from, float* to, int64_t pixels);

// Scales the distance of every value from the mean of its channel.
void adjust_contrast(const float* from, float factor, float* to, int64_t pixels, int64_t channels);

// gain * value ^ gamma, with an error of at most one unit in the last place.
void adjust_gamma(const float* from, float gamma, float gain, float* to, int64_t count);

// (value - mean) / max(deviation, 1 / sqrt(count))
void standardize(const float* from, float* to, int64_t count);

}  // namespace stoker
