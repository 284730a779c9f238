#include "stoker/image/spans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace stoker {
namespace {

constexpr ResizeFilter kSmooth[] = {ResizeFilter::kBilinear, ResizeFilter::kBicubic,  ResizeFilter::kLanczos3,
                                    ResizeFilter::kLanczos5, ResizeFilter::kGaussian, ResizeFilter::kMitchellCubic};

template <typename W>
void expect_inside_and_summing_to_one(const Spans<W>& spans, int64_t from, int64_t to) {
  ASSERT_EQ(static_cast<int64_t>(spans.spans.size()), to);
  for (const Span& span : spans.spans) {
    EXPECT_GE(span.first, 0);
    EXPECT_GE(span.size, 1);
    EXPECT_LE(span.size, spans.widest);
    EXPECT_LE(span.first + span.size, from);
    const W* weights = spans.weights_of(span);
    EXPECT_NEAR(std::accumulate(weights, weights + span.size, 0.0), 1, 1e-5) << from << " to " << to;
  }
}

TEST(Spans, AreInsideTheSourceAndSumToOne) {
  for (int64_t from : {1, 2, 3, 7, 64, 101})
    for (int64_t to : {1, 2, 5, 64, 333}) {
      for (ResizeFilter filter : kSmooth)
        for (bool antialias : {false, true})
          expect_inside_and_summing_to_one(kernel_spans(from, to, filter, antialias), from, to);
      expect_inside_and_summing_to_one(bicubic_spans(from, to), from, to);
      for (ResizeFilter filter :
           {ResizeFilter::kBilinear, ResizeFilter::kBicubic, ResizeFilter::kLanczos3, ResizeFilter::kArea})
        expect_inside_and_summing_to_one(pillow_spans(from, to, filter), from, to);
    }
}

TEST(Spans, OfAreasSumToTheScale) {
  for (int64_t from : {1, 3, 64, 101})
    for (int64_t to : {1, 5, 64, 333}) {
      const Spans<float> spans = area_spans(from, to);
      for (const Span& span : spans.spans) {
        EXPECT_LE(span.first + span.size, from);
        const float* weights = spans.weights_of(span);
        EXPECT_NEAR(std::accumulate(weights, weights + span.size, 0.0), area_scale(from, to), 1e-4);
      }
    }
}

TEST(Spans, HaveTheWeightsOfTheirFilter) {
  // Twice as large: positions are a quarter away from the source pixels.
  const double pi = std::acos(-1.0);
  const auto sinc = [&](double x) { return std::sin(pi * x) / (pi * x); };
  const auto lanczos = [&](double x) { return sinc(x) * sinc(x / 3); };
  const auto bell = [](double x) { return std::exp(-2 * x * x); };
  const auto expect_weights = [](ResizeFilter filter, auto weight) {
    const Spans<float> spans = kernel_spans(32, 64, filter, false);
    const Span& span = spans.spans[32];  // its position is 16.25
    double sum = 0;
    for (int k = 0; k < span.size; ++k) sum += weight(std::abs(span.first + k + 0.5 - 16.25));
    for (int k = 0; k < span.size; ++k)
      EXPECT_NEAR(spans.weights_of(span)[k], weight(std::abs(span.first + k + 0.5 - 16.25)) / sum, 1e-6);
  };
  expect_weights(ResizeFilter::kLanczos3, [&](double x) { return x < 3 ? lanczos(x) : 0; });
  expect_weights(ResizeFilter::kGaussian, [&](double x) { return x < 1.5 ? bell(x) : 0; });
}

TEST(Spans, OfFixedPointAreRoundedAwayFromZero) {
  const Spans<double> half{{{0, 2, 0}}, {0.75 + 0x1p-23, -0.25 - 0x1p-23}, 2};
  EXPECT_EQ(fixed_point(half).weights, (RecycledVector<int32_t>{(3 << 20) + 1, -(1 << 20) - 1}));
}

TEST(Spans, PickTheNearestItem) {
  EXPECT_EQ(nearest_items(4, 2), (RecycledVector<int32_t>{1, 3}));
  EXPECT_EQ(nearest_items(2, 5), (RecycledVector<int32_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(pillow_nearest_items(3, 7), (RecycledVector<int32_t>{0, 0, 1, 1, 1, 2, 2}));
}

}  // namespace
}  // namespace stoker
