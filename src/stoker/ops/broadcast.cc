#include "stoker/ops/broadcast.h"

namespace stoker {
namespace {

// With a shorter innermost axis, calling the loop costs more than its items.
constexpr int64_t kShort = 64;

}  // namespace

Result<std::vector<int64_t>> broadcast(Dims a, Dims b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const size_t from_end = rank - i;
    const int64_t x = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const int64_t y = from_end <= b.size() ? b[b.size() - from_end] : 1;
    if (x != y && x > 1 && y > 1)
      return Error::invalid("shapes ", shape_text(a), " and ", shape_text(b), " cannot be broadcast together");
    if ((x == 0 && y > 1) || (y == 0 && x > 1))
      return Error::invalid("shapes ", shape_text(a), " and ", shape_text(b), " cannot be broadcast together");
    dims[i] = x == 1 ? y : y == 1 ? x : x == y ? x : std::max(x, y);  // with -1 and 3, the unknown size is 3 or 1
  }
  return dims;
}

BroadcastLoop::BroadcastLoop(int64_t rows, int64_t rows_a, Dims dims_a, int64_t rows_b, Dims dims_b, Dims dims) {
  const size_t rank = dims.size();
  int64_t next_a = 1, next_b = 1;
  const auto add = [&](int64_t count, int64_t own_a, int64_t own_b) {
    if (count != 1) {
      const Axis axis{count, own_a == 1 ? 0 : next_a, own_b == 1 ? 0 : next_b};
      const bool joins = !axes_.empty() && axis.stride_a == axes_.back().stride_a * axes_.back().count &&
                         axis.stride_b == axes_.back().stride_b * axes_.back().count;
      if (joins)
        axes_.back().count *= count;
      else
        axes_.push_back(axis);
    }
    next_a *= own_a;
    next_b *= own_b;
  };
  for (size_t from_end = 1; from_end <= rank; ++from_end)
    add(dims[rank - from_end], from_end <= dims_a.size() ? dims_a[dims_a.size() - from_end] : 1,
        from_end <= dims_b.size() ? dims_b[dims_b.size() - from_end] : 1);
  add(rows, rows_a, rows_b);
  if (axes_.empty()) axes_.push_back({1, 1, 1});
  if (axes_.size() > 1 && axes_[0].count < kShort && axes_[0].stride_a == 1 && axes_[0].stride_b == 1) {
    const int64_t count = axes_[0].count;
    if (axes_[1].stride_a == 0 && axes_[1].stride_b == count) period_a_ = count;
    if (axes_[1].stride_b == 0 && axes_[1].stride_a == count) period_b_ = count;
    if (period_a_ || period_b_) {
      axes_.erase(axes_.begin());
      axes_[0] = {axes_[0].count * count, 1, 1};
    }
  }
  std::ranges::reverse(axes_);
}

}  // namespace stoker
