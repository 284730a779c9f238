#include "stoker/image/color.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "stoker/core/power.h"

namespace stoker {
namespace {

struct Hsv {
  float hue = 0, saturation = 0, value = 0;
};

Hsv hsv_of(const float* rgb) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  const float value = std::max({r, g, b}), range = value - std::min({r, g, b});
  if (!(range > 0)) return {0, 0, value};
  const float unit = 1.0f / (6.0f * range);
  const float hue = r == value   ? unit * (g - b)
                    : g == value ? unit * (b - r) + 2.0f / 6.0f
                                 : unit * (r - g) + 4.0f / 6.0f;
  return {hue < 0 ? hue + 1 : hue, value > 0 ? range / value : 0, value};
}

float between_0_and_1(float value) { return std::min(std::max(value, 0.0f), 1.0f); }

void put_rgb(const Hsv& hsv, float* rgb) {
  const float sixths = hsv.hue * 6;
  const float rest = 1 - hsv.saturation;
  const auto part = [&](float share) { return (rest + hsv.saturation * between_0_and_1(share)) * hsv.value; };
  rgb[0] = part(std::abs(sixths - 3) - 1);
  rgb[1] = part(2 - std::abs(sixths - 2));
  rgb[2] = part(2 - std::abs(sixths - 4));
}

// Hue without saturation: the position of the middle value between `low` and `high`, in the sextant
// of the color circle that the order of the channels determines.
struct HueRange {
  float hue = 0;  // [0, 6)
  float low = 0, high = 0;
};

HueRange hue_range_of(const float* rgb) {
  const float high = std::max({rgb[0], rgb[1], rgb[2]}), low = std::min({rgb[0], rgb[1], rgb[2]});
  if (!(high > low)) return {0, low, high};
  const float range = high - low;
  const auto share = [&](float middle) { return (middle - low) / range; };
  if (rgb[0] == high) return {rgb[2] <= rgb[1] ? share(rgb[1]) : 6 - share(rgb[2]), low, high};
  if (rgb[1] == high) return {rgb[2] <= rgb[0] ? 2 - share(rgb[0]) : 2 + share(rgb[2]), low, high};
  return {rgb[0] <= rgb[1] ? 4 - share(rgb[1]) : 4 + share(rgb[0]), low, high};
}

// `hue` is in (-6, 12).
void put_hue(HueRange at, float* rgb) {
  float hue = at.hue;
  if (hue < 0) hue += 6;
  if (hue >= 6) hue -= 6;
  const float range = at.high - at.low;
  const auto part = [&](float share) { return at.low + between_0_and_1(share) * range; };
  rgb[0] = part(std::abs(hue - 3) - 1);
  rgb[1] = part(2 - std::abs(hue - 2));
  rgb[2] = part(2 - std::abs(hue - 4));
}

template <typename Change>
void each_pixel(const float* from, float* to, int64_t pixels, Change change) {
  for (int64_t i = 0; i < pixels; ++i) change(from + 3 * i, to + 3 * i);
}

// ---- powers

// log2 of a positive finite normal number: 2 / ln 2 (s + s^3/3 + …), |s| <= 0.1716.
double log2_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  auto exponent = static_cast<int>(bits >> 23) - 127;
  double m = static_cast<double>(std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u));  // [1, 2)
  if (m > 0x1.6a09e667f3bcdp+0) m *= 0.5, ++exponent;
  const double s = (m - 1) / (m + 1), q = s * s;
  double sum = 1.0 / 13;
  for (double k : {11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) sum = sum * q + 1.0 / k;
  return exponent + 0x1.71547652b82fep+1 * s * sum;
}

// 2 to the power x; the result must be a normal float.
double exp2_of(double x) {
  const double n = std::nearbyint(x);
  const double r = (x - n) * 0x1.62e42fefa39efp-1;  // |r| <= 0.35
  double sum = 1.0 / 3628800.0;
  for (double factor : {362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0})
    sum = sum * r + 1.0 / factor;
  const auto scale = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  return sum * std::bit_cast<double>(scale);
}

float power_float(float x, float y) {
  if (x >= std::numeric_limits<float>::min() && x < std::numeric_limits<float>::infinity()) {
    const double power = log2_of(x) * static_cast<double>(y);
    if (std::abs(power) < 126) return static_cast<float>(exp2_of(power));
  }
  return static_cast<float>(power_of(static_cast<double>(x), static_cast<double>(y)));
}

}  // namespace

void adjust_hue(const float* from, float delta, float* to, int64_t pixels) {
  each_pixel(from, to, pixels, [&](const float* in, float* out) {
    HueRange at = hue_range_of(in);
    at.hue += delta * 6;
    put_hue(at, out);
  });
}

void adjust_saturation(const float* from, float factor, float* to, int64_t pixels) {
  each_pixel(from, to, pixels, [&](const float* in, float* out) {
    Hsv hsv = hsv_of(in);
    hsv.saturation = between_0_and_1(hsv.saturation * factor);
    put_rgb(hsv, out);
  });
}

void rgb_to_hsv(const float* from, float* to, int64_t pixels) {
  each_pixel(from, to, pixels, [](const float* in, float* out) {
    const Hsv hsv = hsv_of(in);
    out[0] = hsv.hue, out[1] = hsv.saturation, out[2] = hsv.value;
  });
}

void hsv_to_rgb(const float* from, float* to, int64_t pixels) {
  each_pixel(from, to, pixels, [](const float* in, float* out) { put_rgb({in[0], in[1], in[2]}, out); });
}

void times_matrix(const float* from, const Matrix& m, float* to, int64_t pixels) {
  each_pixel(from, to, pixels, [&](const float* in, float* out) {
    const float a = in[0], b = in[1], c = in[2];
    out[0] = a * m[0] + b * m[3] + c * m[6];
    out[1] = a * m[1] + b * m[4] + c * m[7];
    out[2] = a * m[2] + b * m[5] + c * m[8];
  });
}

void rgb_to_grayscale(const float* from, float* to, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i)
    to[i] = from[3 * i] * 0.2989f + from[3 * i + 1] * 0.587f + from[3 * i + 2] * 0.114f;
}

void adjust_contrast(const float* from, float factor, float* to, int64_t pixels, int64_t channels) {
  std::vector<double> sums(static_cast<size_t>(channels));
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t c = 0; c < channels; ++c) sums[static_cast<size_t>(c)] += static_cast<double>(from[i * channels + c]);
  std::vector<float> means;
  for (double sum : sums) means.push_back(static_cast<float>(sum / static_cast<double>(pixels)));
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t c = 0; c < channels; ++c) {
      const float mean = means[static_cast<size_t>(c)];
      to[i * channels + c] = mean + factor * (from[i * channels + c] - mean);
    }
}

void adjust_gamma(const float* from, float gamma, float gain, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = gain * power_float(from[i], gamma);
}

void standardize(const float* from, float* to, int64_t count) {
  const auto n = static_cast<double>(count);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(from[i]);
  const auto mean = static_cast<float>(sum / n);
  for (int64_t i = 0; i < count; ++i) {
    const double away = static_cast<double>(from[i]) - sum / n;
    squares += away * away;
  }
  const auto deviation = static_cast<float>(std::max(std::sqrt(squares / n), 1 / std::sqrt(n)));
  for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - mean) / deviation;
}

}  // namespace stoker
