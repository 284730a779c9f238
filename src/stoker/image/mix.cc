#include "stoker/image/mix.h"

#include <algorithm>
#include <cmath>

#include "stoker/core/power.h"

namespace stoker {
namespace {

constexpr double kE = 2.71828182845904523536;

double above_0(Rng& rng) { return 1 - rng.uniform(); }

// Jöhnk's method: powers of two numbers whose sum is at most 1. For alpha up to 1, it rejects at
// most half of the pairs.
double small_share(Rng& rng, double alpha) {
  for (;;) {
    const double x = above_0(rng), y = above_0(rng);
    if (power_of(x, 1 / alpha) + power_of(y, 1 / alpha) <= 1) return 1 / (1 + power_of(y / x, 1 / alpha));
  }
}

// Draws from the Gamma distribution by the method of Marsaglia and Tsang; alpha is at least 1.
double draw_gamma(Rng& rng, double alpha) {
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    // e^(x^2/2 + d - d v) v^d as one power: separately, the factors overflow and underflow doubles.
    if (above_0(rng) < power_of(v * power_of(kE, 0.5 * x * x / d + 1 - v), d)) return d * v;
  }
}

}  // namespace

double draw_share(Rng& rng, double alpha) {
  if (alpha <= 1) return small_share(rng, alpha);
  const double kept = draw_gamma(rng, alpha);
  return kept / (kept + draw_gamma(rng, alpha));
}

CropBox draw_mix_box(Rng& rng, double share, int64_t height, int64_t width) {
  const int64_t x = rng.below(width), y = rng.below(height);
  const double half = 0.5 * std::sqrt(1 - share);
  const auto rows = static_cast<int64_t>(half * static_cast<double>(height));
  const auto columns = static_cast<int64_t>(half * static_cast<double>(width));
  const int64_t top = std::max<int64_t>(0, y - rows), left = std::max<int64_t>(0, x - columns);
  return {top, left, std::min(height, y + rows) - top, std::min(width, x + columns) - left};
}

void mix_rows(const float* from, int64_t rows, int64_t size, float share, float* to) {
  const float rest = 1 - share;
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = from + i * size;
    const float* before = from + (i == 0 ? rows - 1 : i - 1) * size;
    for (int64_t k = 0; k < size; ++k) to[i * size + k] = before[k] * rest + row[k] * share;
  }
}

}  // namespace stoker
