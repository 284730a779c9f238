#include "stoker/image/spans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace stoker {
namespace {

// ---- functions that give the same bits with every C library

// For arguments up to a few tens.
double sine(double x) {
  constexpr double kPi = 0x1.921fb54442d18p+1, kRest = 0x1.1a62633145c07p-53;  // their sum is pi
  const double half_turns = std::nearbyint(x / kPi);
  const double r = (x - half_turns * kPi) - half_turns * kRest;
  double term = r, sum = 0;
  for (int n = 1; n <= 23; n += 2) {
    sum += term;
    term *= -r * r / ((n + 1) * (n + 2));
  }
  return std::fmod(half_turns, 2) == 0 ? sum : -sum;
}

// For arguments in [-8, 8].
double exponential(double x) {
  const double part = x / 32;
  double term = 1, sum = 0;
  for (int n = 1; n <= 16; ++n) {
    sum += term;
    term *= part / n;
  }
  for (int i = 0; i < 5; ++i) sum *= sum;
  return sum;
}

// Keys' cubic filter in double: below 1, and from 1 to 2.
constexpr double kKeys = -0.5;
double keys_near(double x) { return ((kKeys + 2) * x - (kKeys + 3)) * x * x + 1; }
double keys_far(double x) { return (((x - 5) * x + 8) * x - 4) * kKeys; }

// ---- TensorFlow's filters, in float32; distances are not negative

float triangle(float x) { return x < 1 ? 1 - x : 0.0f; }

float keys_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
  return ((1.5f * x - 2.5f) * x) * x + 1.0f;
}

float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
  return (((7.0f / 6.0f) * x - 2.0f) * x) * x + 8.0f / 9.0f;
}

template <int radius>
float lanczos(float x) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  const auto wide = static_cast<float>(sine(kPi * x / radius)), narrow = static_cast<float>(sine(kPi * x));
  return radius * narrow * wide / (kPi * kPi * x * x);
}

float gaussian(float x) {
  constexpr double kSigma = 0.5;
  return x >= 1.5f ? 0.0f : static_cast<float>(exponential(-x * x / (2 * kSigma * kSigma)));
}

struct Kernel {
  ResizeFilter filter;
  float radius;
  float (*at)(float);
};
constexpr Kernel kKernels[] = {
    {ResizeFilter::kBilinear, 1, triangle},    {ResizeFilter::kBicubic, 2, keys_cubic},
    {ResizeFilter::kLanczos3, 3, lanczos<3>},  {ResizeFilter::kLanczos5, 5, lanczos<5>},
    {ResizeFilter::kGaussian, 1.5f, gaussian}, {ResizeFilter::kMitchellCubic, 2, mitchell_cubic},
};

// ---- Pillow's filters, in double

double pillow_box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

double pillow_bilinear(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

double pillow_bicubic(double x) {
  x = std::abs(x);
  return x < 1 ? keys_near(x) : x < 2 ? keys_far(x) : 0;
}

double sinc(double x) {
  if (x == 0) return 1;
  x *= 0x1.921fb54442d18p+1;
  return sine(x) / x;
}

double pillow_lanczos(double x) { return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

struct PillowKernel {
  ResizeFilter filter;
  double support;
  double (*at)(double);
};
constexpr PillowKernel kPillowKernels[] = {
    {ResizeFilter::kArea, 0.5, pillow_box},
    {ResizeFilter::kBicubic, 2, pillow_bicubic},
    {ResizeFilter::kLanczos3, 3, pillow_lanczos},
};

// ---- building tables

template <typename W>
void add_span(Spans<W>& spans, int64_t first, const RecycledVector<W>& weights) {
  spans.spans.push_back(
      {static_cast<int32_t>(first), static_cast<int32_t>(weights.size()), static_cast<int64_t>(spans.weights.size())});
  spans.weights.insert(spans.weights.end(), weights.begin(), weights.end());
  spans.widest = std::max(spans.widest, static_cast<int32_t>(weights.size()));
}

float scale_of(int64_t from, int64_t to) { return static_cast<float>(from) / static_cast<float>(to); }

float half_pixel(int64_t i, float scale) { return (static_cast<float>(i) + 0.5f) * scale - 0.5f; }

// Scales the weights to a sum of 1, unless they are close to zero.
void normalize(RecycledVector<float>& weights, float sum) {
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) {
    std::ranges::fill(weights, 0.0f);
    return;
  }
  const float factor = 1.0f / sum;
  for (float& weight : weights) weight *= factor;
}

}  // namespace

Spans<float> lerp_spans(int64_t from, int64_t to) {
  Spans<float> spans;
  const float scale = scale_of(from, to);
  for (int64_t i = 0; i < to; ++i) {
    const float place = half_pixel(i, scale), below = std::floor(place);
    const int64_t lower = std::clamp<int64_t>(static_cast<int64_t>(below), 0, from - 1);
    const int64_t upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(place)), lower, from - 1);
    spans.spans.push_back({static_cast<int32_t>(lower), static_cast<int32_t>(upper - lower + 1), i});
    spans.weights.push_back(place - below);
  }
  spans.widest = 2;
  return spans;
}

Spans<float> bicubic_spans(int64_t from, int64_t to) {
  constexpr int kSteps = 1024;  // the size of TensorFlow's table of weights
  const auto near = [](int64_t step) { return static_cast<float>(keys_near(static_cast<double>(step) / kSteps)); };
  const auto far = [](int64_t step) { return static_cast<float>(keys_far(1 + static_cast<double>(step) / kSteps)); };
  Spans<float> spans;
  const float scale = scale_of(from, to);
  for (int64_t i = 0; i < to; ++i) {
    const float place = half_pixel(i, scale);
    const auto below = static_cast<int64_t>(std::floor(place));
    const auto step = static_cast<int64_t>(std::nearbyint((place - static_cast<float>(below)) * kSteps));
    const std::array<float, 4> all{far(step), near(step), near(kSteps - step), far(kSteps - step)};
    const int64_t first = std::clamp<int64_t>(below - 1, 0, from - 1);
    const int64_t last = std::clamp<int64_t>(below + 2, first, from - 1);
    RecycledVector<float> weights;
    for (int64_t item = first; item <= last; ++item) weights.push_back(all[static_cast<size_t>(item - below + 1)]);
    float sum = 0;
    for (float weight : weights) sum += weight;
    normalize(weights, sum);
    add_span(spans, first, weights);
  }
  return spans;
}

float area_scale(int64_t from, int64_t to) { return scale_of(from, to); }

Spans<float> area_spans(int64_t from, int64_t to) {
  Spans<float> spans;
  const float scale = scale_of(from, to);
  RecycledVector<float> weights;
  for (int64_t i = 0; i < to; ++i) {
    const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    const auto begin_item = static_cast<int64_t>(std::floor(begin));
    const int64_t first = std::min(begin_item, from - 1);
    weights.clear();
    for (int64_t item = begin_item; item < static_cast<int64_t>(std::ceil(end)); ++item) {
      const auto left = static_cast<float>(item), right = static_cast<float>(item + 1);
      const float share = left < begin ? (right > end ? scale : right - begin) : (right > end ? end - left : 1.0f);
      // Rounding may reach beyond the last item; the last item then gets both weights.
      if (item >= from && !weights.empty())
        weights.back() += share;
      else
        weights.push_back(share);
    }
    add_span(spans, first, weights);
  }
  return spans;
}

Spans<float> kernel_spans(int64_t from, int64_t to, ResizeFilter filter, bool antialias) {
  const Kernel& kernel = *std::ranges::find(kKernels, filter, &Kernel::filter);
  const float scale = 1.0f / scale_of(to, from);
  const float widening = antialias ? std::max(scale, 1.0f) : 1.0f;
  const float narrowing = 1.0f / widening;
  const float reach = kernel.radius * widening;
  Spans<float> spans;
  RecycledVector<float> weights;
  for (int64_t i = 0; i < to; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) * scale;
    const auto item = [&](float place) { return std::clamp<int64_t>(static_cast<int64_t>(place), 0, from - 1); };
    const int64_t first = item(std::ceil(center - reach - 0.5f));
    const int64_t last = item(std::floor(center + reach - 0.5f));
    weights.clear();
    float sum = 0;
    for (int64_t source = first; source <= last; ++source) {
      const float distance = static_cast<float>(source) + 0.5f - center;
      weights.push_back(kernel.at(std::abs(distance * narrowing)));
      sum += weights.back();
    }
    normalize(weights, sum);
    // A position outside the image, which only rounding can cause, samples nothing.
    if (center > static_cast<float>(from)) std::ranges::fill(weights, 0.0f);
    add_span(spans, first, weights);
  }
  return spans;
}

namespace {

template <typename Kernel>
Spans<double> pillow_spans(int64_t from, int64_t to, double support, Kernel kernel) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widening = std::max(scale, 1.0), narrowing = 1 / widening;
  const double reach = support * widening;
  Spans<double> spans;
  spans.widest = static_cast<int32_t>(std::ceil(reach)) * 2 + 1;
  spans.spans.reserve(static_cast<size_t>(to));
  spans.weights.resize(static_cast<size_t>(to * spans.widest));
  int32_t widest = 0;
  for (int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    // Pillow truncates here, and its bits depend on it.
    // NOLINTBEGIN(bugprone-incorrect-roundings)
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - reach + 0.5), 0);
    const int64_t end = std::min(static_cast<int64_t>(center + reach + 0.5), from);
    // NOLINTEND(bugprone-incorrect-roundings)
    const auto size = static_cast<int32_t>(end - first);
    double* weights = spans.weights.data() + i * spans.widest;
    double sum = 0;
    for (int32_t k = 0; k < size; ++k) {
      weights[k] = kernel((static_cast<double>(k + first) - center + 0.5) * narrowing);
      sum += weights[k];
    }
    for (int32_t k = 0; k < size && sum != 0; ++k) weights[k] /= sum;
    spans.spans.push_back({static_cast<int32_t>(first), size, i * spans.widest});
    widest = std::max(widest, size);
  }
  spans.widest = widest;
  return spans;
}

}  // namespace

Spans<double> pillow_spans(int64_t from, int64_t to, ResizeFilter filter) {
  if (filter == ResizeFilter::kBilinear)  // the common filter is inlined
    return pillow_spans(from, to, 1, [](double x) { return pillow_bilinear(x); });
  const PillowKernel& kernel = *std::ranges::find(kPillowKernels, filter, &PillowKernel::filter);
  return pillow_spans(from, to, kernel.support, kernel.at);
}

Spans<int32_t> fixed_point(const Spans<double>& spans) {
  Spans<int32_t> fixed{spans.spans, {}, spans.widest};
  fixed.weights.resize(spans.spans.size() * static_cast<size_t>(spans.widest));
  for (size_t i = 0; i < spans.spans.size(); ++i) {
    Span& span = fixed.spans[i];
    span.weights = static_cast<int64_t>(i) * spans.widest;
    const double* weights = spans.weights_of(spans.spans[i]);
    for (int k = 0; k < span.size; ++k)
      fixed.weights[static_cast<size_t>(span.weights + k)] =
          static_cast<int32_t>((weights[k] < 0 ? -0.5 : 0.5) + weights[k] * (1 << kWeightBits));
  }
  return fixed;
}

FixedSpans in_pairs(Spans<int32_t> spans) {
  FixedSpans all{std::move(spans), 0, {}, {}};
  all.pairs = all.plain.widest / 2 + 1;
  all.first.reserve(all.plain.spans.size());
  all.weights.resize(all.plain.spans.size() * static_cast<size_t>(all.pairs));
  PairWeights* pairs = all.weights.data();
  for (const Span& span : all.plain.spans) {
    all.first.push_back(span.first / 2);
    const int32_t* weights = all.plain.weights_of(span);
    const auto weight = [&](int k) { return k < 0 || k >= span.size ? 0 : weights[k]; };
    for (int k = -(span.first % 2); k < 2 * all.pairs - span.first % 2; k += 2)
      *pairs++ = pair_of(weight(k), weight(k + 1));
  }
  return all;
}

RecycledVector<int32_t> nearest_items(int64_t from, int64_t to) {
  RecycledVector<int32_t> items;
  const float scale = scale_of(from, to);
  for (int64_t i = 0; i < to; ++i) {
    const auto item = static_cast<int64_t>(std::floor((static_cast<float>(i) + 0.5f) * scale));
    items.push_back(static_cast<int32_t>(std::min(item, from - 1)));
  }
  return items;
}

RecycledVector<int32_t> pillow_nearest_items(int64_t from, int64_t to) {
  RecycledVector<int32_t> items;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  // Pillow accumulates the positions, and their rounding errors affect its result.
  double place = scale * 0.5;
  for (int64_t i = 0; i < to; ++i, place += scale)
    items.push_back(static_cast<int32_t>(std::min(static_cast<int64_t>(place), from - 1)));
  return items;
}

}  // namespace stoker
