#include "stoker/image/resize_kernels.h"
#include "stoker/image/resize_pixels.h"

namespace stoker {
namespace {

void columns_u8(const uint8_t* const* from, int rows, int64_t, int pixel, int channels, const FixedSpans& across,
                uint8_t* const* to) {
  const auto count = static_cast<int64_t>(across.plain.spans.size());
  for (int r = 0; r < rows; ++r) plain_columns_u8(from[r], pixel, channels, across.plain, 0, count, to[r]);
}

void rows_u8(const uint8_t* const* from, const int32_t* weights, int taps, int64_t count, uint8_t* to) {
  plain_rows_u8(from, weights, taps, 0, count, to);
}

void lerp_columns(const float* from, int64_t, int channels, const Spans<float>& spans, float* to) {
  plain_lerp_columns(from, channels, channels, spans, 0, static_cast<int64_t>(spans.spans.size()), to);
}
void lerp_columns_u8(const uint8_t* const* from, int rows, int64_t, int pixel, int channels, const Spans<float>& spans,
                     float* const* to) {
  for (int r = 0; r < rows; ++r)
    plain_lerp_columns(from[r], pixel, channels, spans, 0, static_cast<int64_t>(spans.spans.size()), to[r]);
}

void lerp_rows(const float* first, const float* last, float weight, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = lerped(first[i], last[i], weight);
}

void weigh_columns(const float* from, int64_t, int channels, const Spans<float>& spans, float* to) {
  plain_weigh_columns(from, channels, spans, 0, static_cast<int64_t>(spans.spans.size()), to);
}

void weigh_rows(const float* const* from, const float* weights, int taps, int64_t count, float* to) {
  plain_weigh_rows(from, weights, taps, 0, count, to);
}

void widen_u8(const uint8_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}

}  // namespace

const ResizeKernels& plain_resize_kernels() {
  static constexpr ResizeKernels kernels{columns_u8, rows_u8,       lerp_columns, lerp_columns_u8,
                                         lerp_rows,  weigh_columns, weigh_rows,   widen_u8};
  return kernels;
}

}  // namespace stoker
