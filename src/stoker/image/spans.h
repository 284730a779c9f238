#pragma once

#include <cstdint>

#include "stoker/core/recycled.h"

namespace stoker {

// How one axis is resampled, computed once for a picture.

enum class ResizeFilter { kNearest, kBilinear, kBicubic, kLanczos3, kLanczos5, kArea, kGaussian, kMitchellCubic };

// Output i comes from source items [first, first + size); its weights begin at
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

// TensorFlow's, in float32. Bilinear has one weight a span: the share of its
// last item, the first having the rest. Sizes are at least 1.
Spans<float> lerp_spans(int64_t from, int64_t to);
Spans<float> bicubic_spans(int64_t from, int64_t to);  // without antialias
Spans<float> area_spans(int64_t from, int64_t to);     // sums, not means
// Those of tf.raw_ops.ScaleAndTranslate: all but nearest and area.
Spans<float> kernel_spans(int64_t from, int64_t to, ResizeFilter filter, bool antialias);
// What a sum of areas is divided by along one axis.
float area_scale(int64_t from, int64_t to);

// Pillow's: nearest apart, bilinear, bicubic, lanczos3 and area (its BOX), as
// real numbers and with 22 bits after the point, there with zeros behind the
// weights of a span up to the widest.
constexpr int kWeightBits = 22;
Spans<double> pillow_spans(int64_t from, int64_t to, ResizeFilter filter);
Spans<int32_t> fixed_point(const Spans<double>& spans);

// The same for sums of products of 16-bit values: items in pairs, of which the
// first has an even number, and each weight as its lower bits and the rest.
constexpr int kLowWeightBits = 11;
struct PairWeights {
  int32_t low = 0;  // of the first item in the lower half, of the second in the upper
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
  int32_t pairs = 0;              // of every span
  RecycledVector<int32_t> first;  // pair of each span: that of its first item
  RecycledVector<PairWeights> weights;

  const PairWeights* pairs_of(int64_t output) const { return weights.data() + output * pairs; }
};
FixedSpans in_pairs(Spans<int32_t> spans);

// The source item for each output.
RecycledVector<int32_t> nearest_items(int64_t from, int64_t to);
RecycledVector<int32_t> pillow_nearest_items(int64_t from, int64_t to);

}  // namespace stoker
