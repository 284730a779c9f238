#include "stoker/image/resize_kernels.h"

#ifdef STOKER_HAVE_HWY

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/resize_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stoker/image/resize_pixels.h"

// Compiled once for each instruction set. Sums run in the plain order, and
// products are rounded before they are added.
HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

const ResizeKernels* resize_kernels() { return &plain_resize_kernels(); }

#else

namespace hn = hwy::HWY_NAMESPACE;

// Pixels of three channels are read and written as four: outputs [0, this)
// stay inside the row while they do.
template <typename W>
int64_t outputs_inside(int64_t width, int channels, const Spans<W>& spans) {
  const auto count = static_cast<int64_t>(spans.spans.size());
  if (channels == 4) return count;
  int64_t inside = count - 1;
  while (inside > 0) {
    const Span& span = spans.spans[static_cast<size_t>(inside - 1)];
    if (span.first + span.size < width) break;
    --inside;
  }
  return inside;
}

template <int kRows>
void columns_u8_of(const uint8_t* const* from, int channels, const Spans<int32_t>& spans, int64_t outputs,
                   uint8_t* const* to) {
  const hn::FixedTag<int32_t, 4> wide;
  const hn::FixedTag<uint8_t, 4> narrow;
  for (int64_t x = 0; x < outputs; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const int32_t* weights = spans.weights_of(span);
    hn::Vec<decltype(wide)> sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = hn::Set(wide, 1 << (kWeightBits - 1));
    int64_t at = static_cast<int64_t>(span.first) * channels;
    for (int k = 0; k < span.size; ++k, at += channels) {
      const auto weight = hn::Set(wide, weights[k]);
      for (int r = 0; r < kRows; ++r)
        sums[r] = hn::Add(sums[r], hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, from[r] + at)), weight));
    }
    for (int r = 0; r < kRows; ++r)
      hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sums[r])), narrow, to[r] + x * channels);
  }
}

void columns_u8(const uint8_t* const* from, int rows, int64_t width, int channels, const Spans<int32_t>& spans,
                uint8_t* const* to) {
  const auto count = static_cast<int64_t>(spans.spans.size());
  const int64_t vectors = channels == 3 || channels == 4 ? outputs_inside(width, channels, spans) : 0;
  if (rows == ResizeKernels::kRows) {
    columns_u8_of<ResizeKernels::kRows>(from, channels, spans, vectors, to);
  } else {
    for (int r = 0; r < rows; ++r) columns_u8_of<1>(from + r, channels, spans, vectors, to + r);
  }
  for (int r = 0; r < rows; ++r) plain_columns_u8(from[r], channels, spans, vectors, count, to[r]);
}

void rows_u8(const uint8_t* const* from, const int32_t* weights, int taps, int64_t count, uint8_t* to) {
  const hn::ScalableTag<int32_t> wide;
  const hn::Rebind<uint8_t, decltype(wide)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    auto low = hn::Set(wide, 1 << (kWeightBits - 1)), high = low;
    for (int k = 0; k < taps; ++k) {
      const auto weight = hn::Set(wide, weights[k]);
      low = hn::Add(low, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, from[k] + i)), weight));
      high = hn::Add(high, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, from[k] + i + lanes)), weight));
    }
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(low)), narrow, to + i);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(high)), narrow, to + i + lanes);
  }
  plain_rows_u8(from, weights, taps, i, count, to);
}

void lerp_columns(const float* from, int64_t width, int channels, const Spans<float>& spans, float* to) {
  const hn::FixedTag<float, 4> d;
  const int64_t vectors = channels == 3 || channels == 4 ? outputs_inside(width, channels, spans) : 0;
  for (int64_t x = 0; x < vectors; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const float* at = from + static_cast<int64_t>(span.first) * channels;
    const auto first = hn::LoadU(d, at);
    const auto last = hn::LoadU(d, at + static_cast<int64_t>(span.size - 1) * channels);
    const auto weight = hn::Set(d, *spans.weights_of(span));
    hn::StoreU(hn::Add(first, hn::Mul(hn::Sub(last, first), weight)), d, to + x * channels);
  }
  plain_lerp_columns(from, channels, spans, vectors, static_cast<int64_t>(spans.spans.size()), to);
}

void lerp_rows(const float* first, const float* last, float weight, int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto weights = hn::Set(d, weight);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto a = hn::LoadU(d, first + i);
    hn::StoreU(hn::Add(a, hn::Mul(hn::Sub(hn::LoadU(d, last + i), a), weights)), d, to + i);
  }
  for (; i < count; ++i) to[i] = lerped(first[i], last[i], weight);
}

void weigh_columns(const float* from, int64_t width, int channels, const Spans<float>& spans, float* to) {
  const hn::FixedTag<float, 4> d;
  const int64_t vectors = channels == 3 || channels == 4 ? outputs_inside(width, channels, spans) : 0;
  for (int64_t x = 0; x < vectors; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const float* weights = spans.weights_of(span);
    const float* at = from + static_cast<int64_t>(span.first) * channels;
    auto sum = hn::Zero(d);
    for (int k = 0; k < span.size; ++k, at += channels)
      sum = hn::Add(sum, hn::Mul(hn::LoadU(d, at), hn::Set(d, weights[k])));
    hn::StoreU(sum, d, to + x * channels);
  }
  plain_weigh_columns(from, channels, spans, vectors, static_cast<int64_t>(spans.spans.size()), to);
}

void weigh_rows(const float* const* from, const float* weights, int taps, int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto sum = hn::Zero(d);
    for (int k = 0; k < taps; ++k) sum = hn::Add(sum, hn::Mul(hn::LoadU(d, from[k] + i), hn::Set(d, weights[k])));
    hn::StoreU(sum, d, to + i);
  }
  plain_weigh_rows(from, weights, taps, i, count, to);
}

void widen_u8(const uint8_t* from, int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int32_t, decltype(d)> wide;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, from + i))), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

const ResizeKernels* resize_kernels() {
  static constexpr ResizeKernels kernels{columns_u8,    rows_u8,    lerp_columns, lerp_rows,
                                         weigh_columns, weigh_rows, widen_u8};
  return &kernels;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(resize_kernels);

const ResizeKernels& vector_resize_kernels() { return *HWY_DYNAMIC_DISPATCH(resize_kernels)(); }

}  // namespace stoker
#endif

#else

namespace stoker {

const ResizeKernels& vector_resize_kernels() { return plain_resize_kernels(); }

}  // namespace stoker

#endif
