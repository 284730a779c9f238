#pragma once

#include "stoker/core/inline_vector.h"
#include "stoker/core/result.h"
#include "stoker/image/row_math.h"
#include "stoker/image/view.h"

namespace stoker {

// The pixels that a network takes as input. Value x of channel c becomes
//
//   (float32(x) * scale - mean[c]) / std[c]
//
// in float32, rounded after the conversion, the product, the difference and the quotient. The result has
// the same bits in every layout and on every machine.
struct Normalization {
  float scale = 1;
  InlineVector<float, 4> mean, std;  // one for each channel
};

// float32(1 / maximum) for integers, as in convert_image_dtype; 1 for floats.
float unit_scale(DType type);

// Where the values of a row are written: channel c of pixel x to values[x * pixel_step + c *
// channel_step].
struct FloatRow {
  float* values = nullptr;
  int64_t pixel_step = 0;
  int64_t channel_step = 0;
  Wanted wanted = Wanted::kSoon;
};

// Normalizes one row of `width` pixels with the channels of `how`. The type must not be a string.
void normalize_row(const void* row, DType type, int64_t width, const Normalization& how, const FloatRow& to);

// Normalizes the pixels [0, result) of uint8 rows with three channels, using vector instructions.
// Returns 0 in a build without Highway.
int64_t normalize_rgb_by_vectors(const uint8_t* row, int64_t width, const Normalization& how, const FloatRow& to);

// Normalizes an image into [height, width, channels] or, as planes, [channels, height, width].
enum class Layout { kPixels, kPlanes };
void normalize_image(const ImageView& from, const Normalization& how, Layout layout, float* to);

}  // namespace stoker
