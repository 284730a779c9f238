#include "stoker/image/resize_kernels.h"

#ifdef STOKER_HAVE_HWY

#include <cstring>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/resize_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "stoker/image/resize_pixels.h"

// Compiled once for each instruction set. Sums are computed in the order of the plain version, and
// products are rounded before they are added.
HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

const ResizeKernels* resize_kernels() { return &plain_resize_kernels(); }

#else

namespace hn = hwy::HWY_NAMESPACE;

// Pixels with three channels are read and written as four if that stays inside the rows. The next
// output overwrites the extra value.
template <typename W>
bool fits_four(int64_t x, int64_t width, int channels, const Spans<W>& spans) {
  const Span& span = spans.spans[static_cast<size_t>(x)];
  return channels == 4 ||
         (channels == 3 && x + 1 < static_cast<int64_t>(spans.spans.size()) && span.first + span.size < width);
}

// Groups of rows are interleaved ("woven") into one: pixel x of each row, side by side, so that one
// vector holds all values that share a weight. After a pixel with three channels comes whatever
// follows it in its row.
static_assert(ResizeKernels::kRows == 4);
constexpr int kWoven = 16;  // values of a woven pixel
constexpr size_t kLanes = HWY_MIN(kWoven, HWY_MAX_BYTES / 4);
constexpr size_t kParts = kWoven / kLanes;
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

const uint8_t* woven(const uint8_t* const* from, int64_t width, int pixel) {
  thread_local std::vector<uint8_t> memory;
  memory.resize(std::max(memory.size(), static_cast<size_t>(width) * kWoven));
  (pixel == 4 ? weave_fours : weave_threes)(from, width, memory.data());
  return memory.data();
}

// Writes one output of each row. With three channels, the next output overwrites the fourth value.
template <typename D, typename V>
void store_floats(D d, V values, int64_t at, float* const* to) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    hn::StoreU(values, d, to[0] + at);
  } else {
    const hn::Half<D> half;
    store_floats(half, hn::LowerHalf(half, values), at, to);
    store_floats(half, hn::UpperHalf(half, values), at, to + hn::Lanes(half) / 4);
  }
}

// ---- fixed-point sums of pairs

// A weight has 23 bits and a sign, too many for products of 16-bit values. A sum is therefore
// computed from the lower 11 bits of the weights and from the rest.
using PairTag = hn::Repartition<int16_t, WideTag>;
using PairBytes = hn::Rebind<uint8_t, PairTag>;
using Sums = hn::Vec<WideTag>;

// Adds the products of each pair of values.
HWY_INLINE Sums add_pairs(Sums sum, hn::Vec<PairTag> values, int32_t weights) {
  const auto both = hn::BitCast(PairTag(), hn::Set(WideTag(), weights));
  Sums odd = hn::Zero(WideTag());
  return hn::RearrangeToOddPlusEven(hn::ReorderWidenMulAccumulate(WideTag(), values, both, sum, odd), odd);
}

HWY_INLINE Sums whole_sums(Sums low, Sums high) {
  return hn::ShiftRight<kWeightBits>(hn::Add(low, hn::ShiftLeft<kLowWeightBits>(high)));
}

// Four rows are woven into one, two pixels at a time: for each row and each channel, the values of
// both pixels. One vector of pairs then holds all values that share two weights. With three
// channels, the fourth value is whatever follows the pixel.
constexpr int kPair = 2 * kWoven;

// The positions of the values of four pixels, in pairs, in 16 bytes of a row.
HWY_ALIGN constexpr uint8_t kPairsOfFour[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
HWY_ALIGN constexpr uint8_t kPairsOfThree[16] = {0, 3, 1, 4, 2, 5, 3, 6, 6, 9, 7, 10, 8, 11, 9, 12};

void weave_some_pairs(const uint8_t* const* from, int64_t x, int64_t width, int pixel, int channels, uint8_t* to) {
  for (; x < width; ++x)
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < channels; ++c) to[x / 2 * kPair + 8 * r + 2 * c + x % 2] = from[r][x * pixel + c];
}

void weave_pairs(const uint8_t* const* from, int64_t width, int pixel, int channels, uint8_t* to) {
  const hn::FixedTag<uint8_t, 16> bytes;
  const hn::FixedTag<uint64_t, 2> halves;
  const auto order = hn::Load(bytes, pixel == 3 ? kPairsOfThree : kPairsOfFour);
  const auto row = [&](int r, int64_t x) {
    return hn::BitCast(halves, hn::TableLookupBytes(hn::LoadU(bytes, from[r] + x * pixel), order));
  };
  int64_t x = 0;
  for (; x * pixel + 16 <= width * pixel; x += 4) {
    const auto a = row(0, x), b = row(1, x), c = row(2, x), e = row(3, x);
    auto* out = reinterpret_cast<uint64_t*>(to + x / 2 * kPair);
    hn::StoreU(hn::InterleaveLower(halves, a, b), halves, out);
    hn::StoreU(hn::InterleaveLower(halves, c, e), halves, out + 2);
    hn::StoreU(hn::InterleaveUpper(halves, a, b), halves, out + 4);
    hn::StoreU(hn::InterleaveUpper(halves, c, e), halves, out + 6);
  }
  weave_some_pairs(from, x, width, pixel, channels, to);
}

const uint8_t* woven_pairs(const uint8_t* const* from, int64_t width, int pixel, int channels, int64_t beyond) {
  thread_local std::vector<uint8_t> memory;
  memory.resize(std::max(memory.size(), static_cast<size_t>(width / 2 + 1 + beyond) * kPair));
  weave_pairs(from, width, pixel, channels, memory.data());
  return memory.data();
}

// The part of an output of four rows that one vector holds, before it is rounded to bytes. `kPairs`
// is `pairs`, or 0 if it is not a compile-time constant.
template <int kPairs>
HWY_INLINE Sums weighed_pairs(const uint8_t* from, const PairWeights* weights, int pairs) {
  const WideTag wide;
  Sums low = hn::Set(wide, 1 << (kWeightBits - 1)), high = hn::Zero(wide);
  for (int k = 0; k < (kPairs ? kPairs : pairs); ++k, from += kPair) {
    const auto values = hn::PromoteTo(PairTag(), hn::LoadU(PairBytes(), from));
    low = add_pairs(low, values, weights[k].low);
    high = add_pairs(high, values, weights[k].high);
  }
  return whole_sums(low, high);
}

// Narrows 16-bit values to bytes, block by block of 16 bytes: first those of `a`.
using Bytes16 = hn::Repartition<uint8_t, WideTag>;
HWY_INLINE hn::Vec<Bytes16> packed(hn::Vec<PairTag> a, hn::Vec<PairTag> b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return {_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  return {_mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  return {_mm_packus_epi16(a.raw, b.raw)};
#else
  static_assert(kLanes == 4);
  const hn::Half<Bytes16> half;
  return hn::Combine(Bytes16(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

// Stores four outputs of the rows of one vector, the first `channels` values of each. Writes
// sixteen bytes of each row.
HWY_INLINE void store_outputs(const Sums* outputs, int64_t at, int channels, uint8_t* const* to) {
  HWY_ALIGN static constexpr uint8_t kDense[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
  const PairTag values;
  const Bytes16 bytes;
  const hn::FixedTag<uint8_t, 16> block;
  auto all = packed(hn::ReorderDemote2To(values, outputs[0], outputs[1]),
                    hn::ReorderDemote2To(values, outputs[2], outputs[3]));
  if (channels == 3) all = hn::TableLookupBytes(all, hn::LoadDup128(bytes, kDense));
  HWY_ALIGN uint8_t rows[kLanes * 4];
  hn::Store(all, bytes, rows);
  for (size_t r = 0; r < kLanes / 4; ++r) hn::StoreU(hn::Load(block, rows + 16 * r), block, to[r] + at);
}

template <int kPairs>
void woven_columns(const uint8_t* from, int channels, const FixedSpans& across, uint8_t* const* to) {
  const auto outputs = static_cast<int64_t>(across.first.size());
  const auto weighed = [&](int64_t x, size_t part) HWY_ATTR {
    const uint8_t* first = from + static_cast<int64_t>(across.first[static_cast<size_t>(x)]) * kPair;
    return weighed_pairs<kPairs>(first + part * 2 * kLanes, across.pairs_of(x), across.pairs);
  };
  const auto store_four = [&](int64_t x, int64_t at, uint8_t* const* rows) HWY_ATTR {
    for (size_t part = 0; part < kParts; ++part) {
      const Sums sums[4] = {weighed(x, part), weighed(x + 1, part), weighed(x + 2, part), weighed(x + 3, part)};
      store_outputs(sums, at, channels, rows + part * kLanes / 4);
    }
  };
  int64_t x = 0;
  for (; x * channels + 16 <= outputs * channels; x += 4) store_four(x, x * channels, to);
  // The last outputs, some of them computed again: sixteen bytes would extend beyond the rows.
  for (; x < outputs; x += 4) {
    const int64_t begin = std::min(x, outputs - 4);
    uint8_t last[4][16];
    uint8_t* const rows[4] = {last[0], last[1], last[2], last[3]};
    store_four(begin, 0, rows);
    for (int r = 0; r < 4; ++r)
      std::memcpy(to[r] + begin * channels, last[r], size_t{4} * static_cast<size_t>(channels));
  }
}

void woven_columns_u8(const uint8_t* from, int channels, const FixedSpans& across, uint8_t* const* to) {
  switch (across.pairs) {  // the usual numbers for photographs resized to 224 pixels
    case 2: return woven_columns<2>(from, channels, across, to);
    case 3: return woven_columns<3>(from, channels, across, to);
    case 4: return woven_columns<4>(from, channels, across, to);
    default: return woven_columns<0>(from, channels, across, to);
  }
}

bool can_weave(int rows, int pixel, int channels) {
  return rows == 4 && (channels == 3 || channels == 4) && (pixel == channels || pixel == 4);
}

void columns_u8(const uint8_t* const* from, int rows, int64_t width, int pixel, int channels, const FixedSpans& across,
                uint8_t* const* to) {
  const size_t outputs = across.first.size();
  if (!can_weave(4, pixel, channels) || outputs < 4) {
    for (int r = 0; r < rows; ++r)
      plain_columns_u8(from[r], pixel, channels, across.plain, 0, static_cast<int64_t>(outputs), to[r]);
    return;
  }
  // If there are fewer rows, the last one takes the place of the missing ones.
  thread_local std::vector<uint8_t> nowhere;
  nowhere.resize(std::max(nowhere.size(), outputs * static_cast<size_t>(channels)));
  const uint8_t* in[4];
  uint8_t* out[4];
  for (int r = 0; r < 4; ++r) in[r] = from[std::min(r, rows - 1)], out[r] = r < rows ? to[r] : nowhere.data();
  woven_columns_u8(woven_pairs(in, width, pixel, channels, across.pairs), channels, across, out);
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
  if (can_weave(rows, pixel, channels)) return woven_lerp_columns(woven(from, width, pixel), channels, spans, to);
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
