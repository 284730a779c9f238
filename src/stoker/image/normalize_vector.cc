#include "stoker/image/normalize.h"

#ifdef STOKER_HAVE_HWY

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/normalize_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Compiled once for each instruction set. Products are rounded before the subtraction. 224x224
// pixels into planes: 20 µs; the plain version takes 56 µs (bench/kernels/normalize_bench).
HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

int64_t normalize_rgb(const uint8_t*, int64_t, const Normalization&, const FloatRow&) { return 0; }

#else

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

template <typename Bytes>
auto normalized(const Bytes& bytes, const Normalization& how, size_t channel) {
  const Floats d;
  const auto value = hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, Floats>(), bytes));
  const auto scaled = hn::Mul(value, hn::Set(d, how.scale));
  return hn::Div(hn::Sub(scaled, hn::Set(d, how.mean[channel])), hn::Set(d, how.std[channel]));
}

template <typename V>
void store(V values, float* to, bool past_cache) {
  const Floats d;
  if (past_cache)
    hn::Stream(values, d, to);
  else
    hn::StoreU(values, d, to);
}

bool is_aligned(const float* to) {
  return reinterpret_cast<uintptr_t>(to) % (hn::Lanes(Floats()) * sizeof(float)) == 0;
}

// Normalizes whole vectors of pixels, interleaved or as planes, and returns how many pixels it
// wrote.
int64_t normalize_rgb(const uint8_t* from, int64_t width, const Normalization& how, const FloatRow& to) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool planes = to.pixel_step == 1, pixels = to.pixel_step == 3 && to.channel_step == 1;
  if (!planes && !pixels) return 0;
  const bool past_cache =
      to.wanted == Wanted::kLater && is_aligned(to.values) && is_aligned(to.values + to.channel_step);
  int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(narrow)> red, green, blue;
    hn::LoadInterleaved3(narrow, from + 3 * x, red, green, blue);
    const auto r = normalized(red, how, 0), g = normalized(green, how, 1), b = normalized(blue, how, 2);
    if (planes) {
      store(r, to.values + x, past_cache);
      store(g, to.values + to.channel_step + x, past_cache);
      store(b, to.values + 2 * to.channel_step + x, past_cache);
    } else {
      hn::StoreInterleaved3(r, g, b, d, to.values + 3 * x);
    }
  }
  return x;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(normalize_rgb);

int64_t normalize_rgb_by_vectors(const uint8_t* from, int64_t width, const Normalization& how, const FloatRow& to) {
  return HWY_DYNAMIC_DISPATCH(normalize_rgb)(from, width, how, to);
}

}  // namespace stoker
#endif

#else

namespace stoker {

int64_t normalize_rgb_by_vectors(const uint8_t*, int64_t, const Normalization&, const FloatRow&) { return 0; }

}  // namespace stoker

#endif
