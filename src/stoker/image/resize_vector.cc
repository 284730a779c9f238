#include "stoker/image/resize_kernels.h"

#ifdef STOKER_HAVE_HWY

#include <cstring>
#include <vector>

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

// Pixels of three channels are read and written as four where that stays inside
// the rows; what is written too much, the next output writes over.
template <typename W>
bool fits_four(int64_t x, int64_t width, int channels, const Spans<W>& spans) {
  const Span& span = spans.spans[static_cast<size_t>(x)];
  return channels == 4 ||
         (channels == 3 && x + 1 < static_cast<int64_t>(spans.spans.size()) && span.first + span.size < width);
}

// Groups of rows are woven into one: pixel x of each row, side by side, so that
// one vector holds all that one weight is for. Behind a pixel of three channels
// stands whatever follows it.
static_assert(ResizeKernels::kRows == 4);
constexpr int kWoven = 16;  // values of a woven pixel
constexpr size_t kLanes = HWY_MIN(kWoven, HWY_MAX_BYTES / 4);
constexpr int kParts = kWoven / static_cast<int>(kLanes);
using WideTag = hn::FixedTag<int32_t, kLanes>;
using FloatTag = hn::FixedTag<float, kLanes>;
using NarrowTag = hn::FixedTag<uint8_t, kLanes>;

void weave_fours(const uint8_t* const* from, int64_t width, uint8_t* to) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const auto* row = reinterpret_cast<const uint32_t* const*>(from);
  int64_t x = 0;
  for (; x + 4 <= width; x += 4, to += 4 * kWoven) {
    const auto a = hn::LoadU(d, row[0] + x), b = hn::LoadU(d, row[1] + x);
    const auto c = hn::LoadU(d, row[2] + x), e = hn::LoadU(d, row[3] + x);
    const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    auto* out = reinterpret_cast<uint64_t*>(to);
    hn::StoreU(hn::InterleaveLower(pairs, ab_low, ce_low), pairs, out);
    hn::StoreU(hn::InterleaveUpper(pairs, ab_low, ce_low), pairs, out + 2);
    hn::StoreU(hn::InterleaveLower(pairs, ab_high, ce_high), pairs, out + 4);
    hn::StoreU(hn::InterleaveUpper(pairs, ab_high, ce_high), pairs, out + 6);
  }
  for (; x < width; ++x, to += kWoven)
    for (int r = 0; r < 4; ++r) std::memcpy(to + 4 * r, from[r] + 4 * x, 4);
}

void weave_threes(const uint8_t* const* from, int64_t width, uint8_t* to) {
  const uint8_t* row[4] = {from[0], from[1], from[2], from[3]};
  for (int64_t x = 0; x + 1 < width; ++x, to += kWoven)
    for (int r = 0; r < 4; ++r) {
      std::memcpy(to + 4 * r, row[r], 4);
      row[r] += 3;
    }
  for (int r = 0; r < 4; ++r) std::memcpy(to + 4 * r, row[r], 3);
}

// `beyond`: as many pixels behind the last may be read, too.
const uint8_t* woven(const uint8_t* const* from, int64_t width, int pixel, int64_t beyond) {
  thread_local std::vector<uint8_t> memory;
  memory.resize(std::max(memory.size(), static_cast<size_t>(width + beyond) * kWoven));
  (pixel == 4 ? weave_fours : weave_threes)(from, width, memory.data());
  return memory.data();
}

// Writes an output of each row; of three channels, the fourth is written over
// by the next.
template <typename T>
void unweave(const T* values, int64_t x, int64_t outputs, int channels, T* const* to) {
  if (x + 1 < outputs)
    for (int r = 0; r < 4; ++r) std::memcpy(to[r] + x * channels, values + 4 * r, 4 * sizeof(T));
  else
    for (int r = 0; r < 4; ++r)
      std::memcpy(to[r] + x * channels, values + 4 * r, static_cast<size_t>(channels) * sizeof(T));
}

void woven_columns_u8(const uint8_t* from, int channels, const Spans<int32_t>& spans, uint8_t* const* to) {
  const WideTag wide;
  const NarrowTag narrow;
  const auto outputs = static_cast<int64_t>(spans.spans.size());
  for (int64_t x = 0; x < outputs; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const int32_t* weights = spans.weights_of(span);
    const uint8_t* at = from + static_cast<int64_t>(span.first) * kWoven;
    hn::Vec<WideTag> sums[kParts];
    for (auto& sum : sums) sum = hn::Set(wide, 1 << (kWeightBits - 1));
    // As many for each: a loop of a length that changes is guessed wrong by the processor.
    for (int k = 0; k < spans.widest; ++k, at += kWoven) {
      const auto weight = hn::Set(wide, weights[k]);
      for (int p = 0; p < kParts; ++p)
        sums[p] = hn::Add(sums[p], hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, at + kLanes * p)), weight));
    }
    uint8_t values[kWoven];
    for (int p = 0; p < kParts; ++p)
      hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sums[p])), narrow, values + kLanes * p);
    unweave(values, x, outputs, channels, to);
  }
}

bool can_weave(int rows, int pixel, int channels) {
  return rows == 4 && (channels == 3 || channels == 4) && (pixel == channels || pixel == 4);
}

void columns_u8(const uint8_t* const* from, int rows, int64_t width, int pixel, int channels,
                const Spans<int32_t>& spans, uint8_t* const* to) {
  if (can_weave(rows, pixel, channels))
    return woven_columns_u8(woven(from, width, pixel, spans.widest), channels, spans, to);
  const auto count = static_cast<int64_t>(spans.spans.size());
  for (int r = 0; r < rows; ++r) plain_columns_u8(from[r], pixel, channels, spans, 0, count, to[r]);
}

void woven_lerp_columns(const uint8_t* from, int channels, const Spans<float>& spans, float* const* to) {
  const WideTag wide;
  const FloatTag floats;
  const NarrowTag narrow;
  const auto load = [&](const uint8_t* at) {
    return hn::ConvertTo(floats, hn::PromoteTo(wide, hn::LoadU(narrow, at)));
  };
  const auto outputs = static_cast<int64_t>(spans.spans.size());
  for (int64_t x = 0; x < outputs; ++x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const uint8_t* at = from + static_cast<int64_t>(span.first) * kWoven;
    const auto weight = hn::Set(floats, *spans.weights_of(span));
    float values[kWoven];
    for (size_t p = 0; p < kWoven; p += kLanes) {
      const auto first = load(at + p), last = load(at + static_cast<int64_t>(span.size - 1) * kWoven + p);
      hn::StoreU(hn::Add(first, hn::Mul(hn::Sub(last, first), weight)), floats, values + p);
    }
    unweave(values, x, outputs, channels, to);
  }
}

void lerp_columns_u8(const uint8_t* const* from, int rows, int64_t width, int pixel, int channels,
                     const Spans<float>& spans, float* const* to) {
  if (can_weave(rows, pixel, channels)) return woven_lerp_columns(woven(from, width, pixel, 0), channels, spans, to);
  const auto count = static_cast<int64_t>(spans.spans.size());
  for (int r = 0; r < rows; ++r) plain_lerp_columns(from[r], pixel, channels, spans, 0, count, to[r]);
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
  for (int64_t x = 0; x < static_cast<int64_t>(spans.spans.size()); ++x) {
    if (!fits_four(x, width, channels, spans)) {
      plain_lerp_columns(from, channels, channels, spans, x, x + 1, to);
      continue;
    }
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const float* at = from + static_cast<int64_t>(span.first) * channels;
    const auto first = hn::LoadU(d, at);
    const auto last = hn::LoadU(d, at + static_cast<int64_t>(span.size - 1) * channels);
    const auto weight = hn::Set(d, *spans.weights_of(span));
    hn::StoreU(hn::Add(first, hn::Mul(hn::Sub(last, first), weight)), d, to + x * channels);
  }
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
  for (int64_t x = 0; x < static_cast<int64_t>(spans.spans.size()); ++x) {
    if (!fits_four(x, width, channels, spans)) {
      plain_weigh_columns(from, channels, spans, x, x + 1, to);
      continue;
    }
    const Span& span = spans.spans[static_cast<size_t>(x)];
    const float* weights = spans.weights_of(span);
    const float* at = from + static_cast<int64_t>(span.first) * channels;
    auto sum = hn::Zero(d);
    for (int k = 0; k < span.size; ++k, at += channels)
      sum = hn::Add(sum, hn::Mul(hn::LoadU(d, at), hn::Set(d, weights[k])));
    hn::StoreU(sum, d, to + x * channels);
  }
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
  static constexpr ResizeKernels kernels{columns_u8, rows_u8,       lerp_columns, lerp_columns_u8,
                                         lerp_rows,  weigh_columns, weigh_rows,   widen_u8};
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
