#pragma once

#include "stoker/core/inline_vector.h"
#include "stoker/core/result.h"
#include "stoker/image/row_math.h"
#include "stoker/image/view.h"

namespace stoker {

// Pixels as a network takes them: value x of channel c becomes
//
//   (float32(x) * scale - mean[c]) / std[c]
//
// in float32, rounded after the conversion, the product, the difference and the
// quotient: the same bits in every layout and on every machine.
struct Normalization {
  float scale = 1;
  InlineVector<float, 4> mean, std;  // one a channel
};

// float32(1 / highest) for integers, as convert_image_dtype has it; 1 for floats.
float unit_scale(DType type);

// Where the values of a row go: channel c of pixel x to values[x * pixel_step + c * channel_step].
struct FloatRow {
  float* values = nullptr;
  int64_t pixel_step = 0;
  int64_t channel_step = 0;
  Wanted wanted = Wanted::kSoon;
};

// One row of `width` pixels, whose channels are those of `how`. Not for strings.
void normalize_row(const void* row, DType type, int64_t width, const Normalization& how, const FloatRow& to);

// What vectors can do of it for three channels of uint8: pixels [0, result).
// Nothing where Highway was left out.
int64_t normalize_rgb_by_vectors(const uint8_t* row, int64_t width, const Normalization& how, const FloatRow& to);

// All rows, into [height, width, channels] or, as planes, [channels, height, width].
enum class Layout { kPixels, kPlanes };
void normalize_picture(const ImageView& from, const Normalization& how, Layout layout, float* to);

}  // namespace stoker
