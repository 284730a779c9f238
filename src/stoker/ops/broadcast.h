#pragma once

#include <algorithm>
#include <vector>

#include "stoker/core/array.h"

namespace stoker {

// Returns the shape to which two shapes broadcast, as in NumPy. A size of -1 is unknown and matches any size. The error
// names both shapes.
Result<std::vector<int64_t>> broadcast(Dims a, Dims b);

// The loop over two blocks of rows whose row shapes broadcast. It has as few nested axes as possible, so that equal
// shapes and constants take a single loop.
class BroadcastLoop {
 public:
  struct Axis {
    int64_t count;
    int64_t stride_a, stride_b;  // in items
  };

  // `rows_a` and `rows_b` are `rows` or 1. `dims` is the broadcast shape of the rows.
  BroadcastLoop(int64_t rows, int64_t rows_a, Dims dims_a, int64_t rows_b, Dims dims_b, Dims dims);

  // If not 0, the operand has this many items, which repeat along the innermost axis. Example: a constant of three
  // channels and an image.
  int64_t period_a() const { return period_a_; }
  int64_t period_b() const { return period_b_; }

  // Calls body(offset_a, offset_b, offset_out, innermost axis) for each pass over the innermost axis, in order.
  template <typename Body>
  void each(Body&& body) const {
    const Axis& inner = axes_.back();
    const auto outer = std::ranges::subrange(axes_.begin(), axes_.end() - 1);
    if (std::ranges::any_of(axes_, [](const Axis& axis) { return axis.count == 0; })) return;
    std::vector<int64_t> at(outer.size(), 0);
    int64_t a = 0, b = 0, out = 0;
    while (true) {
      body(a, b, out, inner);
      out += inner.count;
      size_t axis = outer.size();
      while (axis > 0) {
        --axis;
        a += axes_[axis].stride_a;
        b += axes_[axis].stride_b;
        if (++at[axis] < axes_[axis].count) break;
        a -= axes_[axis].stride_a * axes_[axis].count;
        b -= axes_[axis].stride_b * axes_[axis].count;
        at[axis] = 0;
        if (axis == 0) return;
      }
      if (outer.empty()) return;
    }
  }

 private:
  std::vector<Axis> axes_;  // outermost first; at least one
  int64_t period_a_ = 0, period_b_ = 0;
};

}  // namespace stoker
