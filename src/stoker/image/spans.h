#pragma once

#include <cstdint>

#include "stoker/core/recycled.h"

namespace stoker {

// The weights for resampling one axis, computed once per image.

enum class ResizeFilter { kNearest, kBilinear, kBicubic, kLanczos3, kLanczos5, kArea, kGaussian, kMitchellCubic };

// Output i is computed from source items [first, first + size). Its weights start at index
// `weights` of the table.
struct Span {
  int32_t first = 0;
  int32_t size = 0;
  int64_t weights = 0;
};

template <typename W>
struct Spans {
  RecycledVector<Span> spans;
  RecycledVector<W> weights;
  int32_t widest = 0;

  const W* weights_of(const Span& span) const { return weights.data() + span.weights; }
};

// The spans of TensorFlow, in float32. Bilinear has one weight per span: the share of its last
// item; the first item has the rest. Sizes are at least 1.
Spans<float> lerp_spans(int64_t from, int64_t to);
Spans<float> bicubic_spans(int64_t from, int64_t to);  // without antialias
Spans<float> area_spans(int64_t from, int64_t to);     // sums, not means
// The spans of tf.raw_ops.ScaleAndTranslate, for all filters except nearest and area.
Spans<float> kernel_spans(int64_t from, int64_t to, ResizeFilter filter, bool antialias);
// The divisor of a sum of areas along one axis.
float area_scale(int64_t from, int64_t to);

// The spans of Pillow for bilinear, bicubic, lanczos3 and area (its BOX filter), as real numbers
// and as fixed-point numbers with 22 fractional bits. In fixed point, the weights of a span are
// padded with zeros to the widest span.
constexpr int kWeightBits = 22;
Spans<double> pillow_spans(int64_t from, int64_t to, ResizeFilter filter);
Spans<int32_t> fixed_point(const Spans<double>& spans);

// The same for sums of products of 16-bit values: items are grouped in pairs that start at even
// indices, and each weight is split into its lower bits and the rest.
constexpr int kLowWeightBits = 11;
struct PairWeights {
  int32_t low = 0;  // lower half: the first item; upper half: the second
  int32_t high = 0;
};
inline PairWeights pair_of(int32_t first, int32_t second) {
  const auto both = [](int32_t lower, int32_t upper) {
    return static_cast<int32_t>((static_cast<uint32_t>(upper) << 16) | (static_cast<uint32_t>(lower) & 0xffff));
  };
  constexpr int32_t kLow = (1 << kLowWeightBits) - 1;
  return {both(first & kLow, second & kLow), both(first >> kLowWeightBits, second >> kLowWeightBits)};
}
struct FixedSpans {
  Spans<int32_t> plain;
  int32_t pairs = 0;              // the number of pairs of every span
  RecycledVector<int32_t> first;  // the first pair of each span
  RecycledVector<PairWeights> weights;

  const PairWeights* pairs_of(int64_t output) const { return weights.data() + output * pairs; }
};
FixedSpans in_pairs(Spans<int32_t> spans);

// The source item of each output.
RecycledVector<int32_t> nearest_items(int64_t from, int64_t to);
RecycledVector<int32_t> pillow_nearest_items(int64_t from, int64_t to);

}  // namespace stoker
