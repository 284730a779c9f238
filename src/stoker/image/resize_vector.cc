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

// Writes one output of each row; of three channels, the fourth is written over
// by the next output.
template <typename V>
void store_floats(hn::FixedTag<float, 4> d, V values, int64_t at, float* const* to) {
  hn::StoreU(values, d, to[0] + at);
}
template <typename D, typename V>
void store_floats(D, V values, int64_t at, float* const* to) {
  const hn::Half<D> half;
  store_floats(half, hn::LowerHalf(half, values), at, to);
  store_floats(half, hn::UpperHalf(half, values), at, to + hn::Lanes(half) / 4);
}

using Pixels = hn::Vec<hn::FixedTag<uint8_t, 16>>;

// Sums rounded to the bytes of a woven pixel.
template <int kCount, typename Narrow>
Pixels rounded_pixel(const hn::Vec<WideTag>* sums, Narrow narrow) {
  if constexpr (kCount == 1) {
    return hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sums[0]));
  } else {
    HWY_ALIGN uint8_t values[kWoven];
    for (int p = 0; p < kCount; ++p)
      hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sums[p])), narrow, values + kLanes * p);
    return hn::Load(hn::FixedTag<uint8_t, 16>(), values);
  }
}

// The woven pixel whose weights are these.
Pixels weighed_pixel(const uint8_t* from, const int32_t* weights, int taps) {
  const WideTag wide;
  const NarrowTag narrow;
  hn::Vec<WideTag> sums[kParts];
  for (auto& sum : sums) sum = hn::Set(wide, 1 << (kWeightBits - 1));
  for (int k = 0; k < taps; ++k, from += kWoven) {
    const auto weight = hn::Set(wide, weights[k]);
    for (int p = 0; p < kParts; ++p)
      sums[p] = hn::Add(sums[p], hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, from + kLanes * p)), weight));
  }
  return rounded_pixel<kParts>(sums, narrow);
}

// Four woven pixels, a row of them at a time, without the fourth channel where
// there are three; sixteen bytes are written.
void store_pixels(const Pixels* pixels, int64_t at, int channels, uint8_t* const* to) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const hn::FixedTag<uint8_t, 16> bytes;
  HWY_ALIGN static constexpr uint8_t kDense[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0};
  HWY_ALIGN static constexpr uint8_t kAll[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto order = hn::Load(bytes, channels == 3 ? kDense : kAll);
  const auto cast = [&](Pixels pixel) { return hn::BitCast(d, pixel); };
  const auto low = [&](auto a, auto b) { return hn::BitCast(pairs, hn::InterleaveLower(d, a, b)); };
  const auto high = [&](auto a, auto b) { return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)); };
  const auto first = low(cast(pixels[0]), cast(pixels[1])), second = low(cast(pixels[2]), cast(pixels[3]));
  const auto third = high(cast(pixels[0]), cast(pixels[1])), fourth = high(cast(pixels[2]), cast(pixels[3]));
  const auto store = [&](auto row, int r) {
    hn::StoreU(hn::TableLookupBytes(hn::BitCast(bytes, row), order), bytes, to[r] + at);
  };
  store(hn::InterleaveLower(pairs, first, second), 0);
  store(hn::InterleaveUpper(pairs, first, second), 1);
  store(hn::InterleaveLower(pairs, third, fourth), 2);
  store(hn::InterleaveUpper(pairs, third, fourth), 3);
}

void store_pixel(Pixels pixel, int64_t at, int channels, uint8_t* const* to) {
  HWY_ALIGN uint8_t values[kWoven];
  hn::Store(pixel, hn::FixedTag<uint8_t, 16>(), values);
  for (int r = 0; r < 4; ++r) std::memcpy(to[r] + at, values + 4 * r, static_cast<size_t>(channels));
}

void woven_columns_u8(const uint8_t* from, int channels, const Spans<int32_t>& spans, uint8_t* const* to) {
  const auto outputs = static_cast<int64_t>(spans.spans.size());
  const auto pixel = [&](int64_t x) {
    const Span& span = spans.spans[static_cast<size_t>(x)];
    // As many for each: a loop of a length that changes is guessed wrong by the processor.
    return weighed_pixel(from + static_cast<int64_t>(span.first) * kWoven, spans.weights_of(span), spans.widest);
  };
  int64_t x = 0;
  for (; (x + 4) * channels + 4 <= outputs * channels; x += 4) {
    const Pixels pixels[4] = {pixel(x), pixel(x + 1), pixel(x + 2), pixel(x + 3)};
    store_pixels(pixels, x * channels, channels, to);
  }
  for (; x < outputs; ++x) store_pixel(pixel(x), x * channels, channels, to);
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
    float last_values[kWoven];
    float* const last_rows[4] = {last_values, last_values + 4, last_values + 8, last_values + 12};
    const bool is_last = x + 1 == outputs;
    for (size_t p = 0; p < kWoven; p += kLanes) {
      const auto first = load(at + p), last = load(at + static_cast<int64_t>(span.size - 1) * kWoven + p);
      const auto value = hn::Add(first, hn::Mul(hn::Sub(last, first), weight));
      store_floats(floats, value, is_last ? 0 : x * channels, (is_last ? last_rows : to) + p / 4);
    }
    for (int r = 0; r < 4 && is_last; ++r)
      std::memcpy(to[r] + x * channels, last_rows[r], static_cast<size_t>(channels) * sizeof(float));
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
