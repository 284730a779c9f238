#include "stoker/core/power.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace stoker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A number as a sum of two doubles that do not overlap: about 106 bits.
struct Double2 {
  double hi = 0, lo = 0;
};

Double2 quick_sum(double a, double b) {  // |a| >= |b|
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
Double2 exact_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
// Dekker's product. Does not use fused multiply-add, which not every machine has.
Double2 exact_product(double a, double b) {
  constexpr double split = 134217729.0;  // 2^27 + 1
  const double pa = a * split, pb = b * split;
  const double a_hi = pa - (pa - a), b_hi = pb - (pb - b);
  const double a_lo = a - a_hi, b_lo = b - b_hi;
  const double product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}
Double2 operator+(Double2 a, Double2 b) {
  const Double2 sum = exact_sum(a.hi, b.hi);
  return quick_sum(sum.hi, sum.lo + (a.lo + b.lo));
}
Double2 operator*(Double2 a, Double2 b) {
  const Double2 product = exact_product(a.hi, b.hi);
  return quick_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}
Double2 quotient(Double2 a, Double2 b) {
  const double first = a.hi / b.hi;
  const Double2 left = exact_product(first, b.hi);
  const double rest = ((a.hi - left.hi) - left.lo) + a.lo - first * b.lo;
  return quick_sum(first, rest / b.hi);
}

constexpr Double2 kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// The natural logarithm of a positive finite number.
Double2 log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, --exponent;
  // log m = 2 (s + s^3/3 + s^5/5 + …), |s| <= 0.1716
  const Double2 s = quotient({m - 1, 0}, exact_sum(m, 1));
  const Double2 s2 = s * s;
  // Terms from s^7 on are below 2^-15 of the sum, so doubles are precise enough.
  const double q = s2.hi;
  double tail = 1.0 / 29;
  for (int k = 27; k >= 7; k -= 2) tail = tail * q + 1.0 / k;
  constexpr Double2 third{0x1.5555555555555p-2, 0x1.5555555555555p-56};
  constexpr Double2 fifth{0x1.999999999999ap-3, -0x1.999999999999ap-57};
  const Double2 series = Double2{1, 0} + s2 * (third + s2 * (fifth + exact_product(q, tail)));
  const Double2 half = s * series;
  const Double2 log_m{2 * half.hi, 2 * half.lo};
  return kLn2 * Double2{static_cast<double>(exponent), 0} + log_m;
}

// e to a power between the logarithms of the smallest and the largest double.
double exp_of(Double2 x) {
  const double n = std::nearbyint(x.hi * 0x1.71547652b82fep+0);
  const Double2 shift = kLn2 * Double2{-n, 0};
  const Double2 r = x + shift;  // |r| <= 0.35
  const double h = r.hi;
  double tail = 1.0 / 6227020800.0;  // 1/13!
  constexpr double factors[] = {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0};
  for (double factor : factors) tail = tail * h + 1.0 / factor;
  // 1 + r + r^2/2 + r^3 tail. The first three terms are precise enough to round correctly.
  const Double2 square = exact_product(h, h);
  const Double2 sum =
      exact_sum(1.0, h) + Double2{square.hi / 2, square.lo / 2} + quick_sum(square.hi * h * tail, r.lo + r.lo * h);
  return std::ldexp(sum.hi, static_cast<int>(n));
}

bool is_integer(double y) { return y == std::floor(y); }
bool is_odd(double y) { return is_integer(y) && std::abs(y) < 0x1p53 && std::fmod(y, 2) != 0; }

}  // namespace

double power_of(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const double sign = std::signbit(x) && is_odd(y) ? -1 : 1;
  if (std::isinf(y)) {
    const double size = std::abs(x);
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? kInfinity : 0;
  }
  if (x == 0 || std::isinf(x)) return ((x == 0) == (y < 0)) ? sign * kInfinity : sign * 0.0;
  if (x < 0 && !is_integer(y)) return kNan;
  const double size = std::abs(x);
  if (size == 1) return sign;
  const Double2 log = log_of(size);
  const double about = log.hi * y;
  if (about > 710) return sign * kInfinity;
  if (about < -746) return sign * 0.0;
  return sign * exp_of(log * Double2{y, 0});
}

}  // namespace stoker
