#pragma once

#include <algorithm>
#include <cstdint>

#include "stoker/image/spans.h"

namespace stoker {

// The computation of single values in the inner loops of resizing. The plain loops consist of them,
// and the vector loops use them at the ends of rows.

inline uint8_t rounded_u8(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

// `from` points to the first tap; `step` is the distance to the next one.
inline uint8_t weighed_u8(const uint8_t* from, int step, const int32_t* weights, int taps) {
  int32_t sum = 1 << (kWeightBits - 1);
  for (int k = 0; k < taps; ++k) sum += from[static_cast<int64_t>(k) * step] * weights[k];
  return rounded_u8(sum);
}

inline float weighed(const float* from, int step, const float* weights, int taps) {
  float sum = 0;
  for (int k = 0; k < taps; ++k) sum += from[static_cast<int64_t>(k) * step] * weights[k];
  return sum;
}

inline float lerped(float first, float last, float weight) { return first + (last - first) * weight; }

// Computes outputs [begin, end) of a row.
inline void plain_columns_u8(const uint8_t* from, int pixel, int channels, const Spans<int32_t>& spans, int64_t begin,
                             int64_t end, uint8_t* to) {
  for (int64_t x = begin; x < end; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    for (int c = 0; c < channels; ++c)
      to[x * channels + c] =
          weighed_u8(from + static_cast<int64_t>(span.first) * pixel + c, pixel, spans.weights_of(span), span.size);
  }
}

template <typename T>
void plain_lerp_columns(const T* from, int pixel, int channels, const Spans<float>& spans, int64_t begin, int64_t end,
                        float* to) {
  for (int64_t x = begin; x < end; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const T* first = from + static_cast<int64_t>(span.first) * pixel;
    const T* last = first + static_cast<int64_t>(span.size - 1) * pixel;
    for (int c = 0; c < channels; ++c) to[x * channels + c] = lerped(first[c], last[c], *spans.weights_of(span));
  }
}

inline void plain_weigh_columns(const float* from, int channels, const Spans<float>& spans, int64_t begin, int64_t end,
                                float* to) {
  for (int64_t x = begin; x < end; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    for (int c = 0; c < channels; ++c)
      to[x * channels + c] =
          weighed(from + static_cast<int64_t>(span.first) * channels + c, channels, spans.weights_of(span), span.size);
  }
}

inline void plain_rows_u8(const uint8_t* const* from, const int32_t* weights, int taps, int64_t begin, int64_t end,
                          uint8_t* to) {
  for (int64_t i = begin; i < end; ++i) {
    int32_t sum = 1 << (kWeightBits - 1);
    for (int k = 0; k < taps; ++k) sum += from[k][i] * weights[k];
    to[i] = rounded_u8(sum);
  }
}

inline void plain_weigh_rows(const float* const* from, const float* weights, int taps, int64_t begin, int64_t end,
                             float* to) {
  for (int64_t i = begin; i < end; ++i) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += from[k][i] * weights[k];
    to[i] = sum;
  }
}

}  // namespace stoker
