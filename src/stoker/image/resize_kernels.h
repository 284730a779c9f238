#pragma once

#include <cstdint>

#include "stoker/image/spans.h"

namespace stoker {

// The inner loops of resizing, in a plain and a vector version with the same bits. Rows have
// `width` pixels with `channels` interleaved values. `pixel`, where given, is the number of values
// from one source pixel to the next. No kernel reads or writes beyond the rows.
struct ResizeKernels {
  // The number of rows that share their weights and are processed together.
  static constexpr int kRows = 4;

  // Fixed-point sums along `rows` rows, rounded to uint8.
  void (*columns_u8)(const uint8_t* const* from, int rows, int64_t width, int pixel, int channels,
                     const FixedSpans& across, uint8_t* const* to);
  // The same over the rows of one span.
  void (*rows_u8)(const uint8_t* const* from, const int32_t* weights, int taps, int64_t count, uint8_t* to);

  // first + (last - first) * weight for each span.
  void (*lerp_columns)(const float* from, int64_t width, int channels, const Spans<float>& spans, float* to);
  void (*lerp_columns_u8)(const uint8_t* const* from, int rows, int64_t width, int pixel, int channels,
                          const Spans<float>& spans, float* const* to);
  void (*lerp_rows)(const float* first, const float* last, float weight, int64_t count, float* to);

  // Sums from the first item to the last.
  void (*weigh_columns)(const float* from, int64_t width, int channels, const Spans<float>& spans, float* to);
  void (*weigh_rows)(const float* const* from, const float* weights, int taps, int64_t count, float* to);

  void (*widen_u8)(const uint8_t* from, int64_t count, float* to);
};

const ResizeKernels& plain_resize_kernels();
// The fastest kernels for this machine; the plain ones in a build without Highway.
const ResizeKernels& vector_resize_kernels();

}  // namespace stoker
