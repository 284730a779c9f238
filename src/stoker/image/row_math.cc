#include "stoker/image/row_math.h"

#include "stoker/image/resize_kernels.h"

#ifdef STOKER_HAVE_HWY

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/row_math.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Op, typename By>
void compute(const float* from, By by, int64_t count, float* to, Wanted wanted) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto vector = [&](int64_t i) { return Op::of(hn::LoadU(d, from + i), by.vector(d, i)); };
  int64_t i = 0;
  if (wanted == Wanted::kLater && reinterpret_cast<uintptr_t>(to) % (hn::Lanes(d) * sizeof(float)) == 0)
    for (; i + lanes <= count; i += lanes) hn::Stream(vector(i), d, to + i);
  for (; i + lanes <= count; i += lanes) hn::StoreU(vector(i), d, to + i);
  for (; i < count; ++i) to[i] = Op::of(from[i], by.item(i));
}

struct Many {
  const float* values;
  template <typename D>
  auto vector(D d, int64_t i) const {
    return hn::LoadU(d, values + i);
  }
  float item(int64_t i) const { return values[i]; }
};
struct One {
  float value;
  template <typename D>
  auto vector(D d, int64_t) const {
    return hn::Set(d, value);
  }
  float item(int64_t) const { return value; }
};

struct Sum {
  static float of(float a, float b) { return a + b; }
  template <typename V>
  static V of(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Difference {
  static float of(float a, float b) { return a - b; }
  template <typename V>
  static V of(V a, V b) {
    return hn::Sub(a, b);
  }
};
struct Product {
  static float of(float a, float b) { return a * b; }
  template <typename V>
  static V of(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Quotient {
  static float of(float a, float b) { return a / b; }
  template <typename V>
  static V of(V a, V b) {
    return hn::Div(a, b);
  }
};

template <typename By>
void choose(RowMath op, const float* from, By by, int64_t count, float* to, Wanted wanted) {
  switch (op) {
    case RowMath::kAdd: return compute<Sum>(from, by, count, to, wanted);
    case RowMath::kSubtract: return compute<Difference>(from, by, count, to, wanted);
    case RowMath::kMultiply: return compute<Product>(from, by, count, to, wanted);
    case RowMath::kDivide: return compute<Quotient>(from, by, count, to, wanted);
  }
}

void math_by_many(RowMath op, const float* from, const float* by, int64_t count, float* to, Wanted wanted) {
  choose(op, from, Many{by}, count, to, wanted);
}
void math_by_one(RowMath op, const float* from, float by, int64_t count, float* to, Wanted wanted) {
  choose(op, from, One{by}, count, to, wanted);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(math_by_many);
HWY_EXPORT(math_by_one);

void row_math(RowMath op, const float* from, const float* by, int64_t count, float* to, Wanted wanted) {
  HWY_DYNAMIC_DISPATCH(math_by_many)(op, from, by, count, to, wanted);
}
void row_math(RowMath op, const float* from, float by, int64_t count, float* to, Wanted wanted) {
  HWY_DYNAMIC_DISPATCH(math_by_one)(op, from, by, count, to, wanted);
}
void widen_row(const uint8_t* from, int64_t count, float* to) { vector_resize_kernels().widen_u8(from, count, to); }
void settle_rows() { hwy::FlushStream(); }

}  // namespace stoker
#endif

#else

namespace stoker {
namespace {

template <typename By>
void compute(RowMath op, const float* from, By by, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) switch (op) {
      case RowMath::kAdd: to[i] = from[i] + by(i); break;
      case RowMath::kSubtract: to[i] = from[i] - by(i); break;
      case RowMath::kMultiply: to[i] = from[i] * by(i); break;
      case RowMath::kDivide: to[i] = from[i] / by(i); break;
    }
}

}  // namespace

void row_math(RowMath op, const float* from, const float* by, int64_t count, float* to, Wanted) {
  compute(op, from, [by](int64_t i) { return by[i]; }, count, to);
}
void row_math(RowMath op, const float* from, float by, int64_t count, float* to, Wanted) {
  compute(op, from, [by](int64_t) { return by; }, count, to);
}
void widen_row(const uint8_t* from, int64_t count, float* to) { plain_resize_kernels().widen_u8(from, count, to); }
void settle_rows() {}

}  // namespace stoker

#endif
