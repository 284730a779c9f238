#include "stoker/ops/reduce.h"

#include <array>

#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/elementwise.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

enum class Kind { kSum, kMean, kMax, kMin };

Result<DType> result_type(Kind kind, DType type) {
  if (type == DType::kBytes) return no_numbers(type);
  if (kind == Kind::kMax || kind == Kind::kMin || is_float(type)) return type;
  if (kind == Kind::kMean) return DType::kFloat64;
  return is_unsigned_integer(type) ? DType::kUint64 : DType::kInt64;
}

// Returns which axes are reduced.
Result<std::vector<char>> axes_in(const ReduceParams& params, size_t rank) {
  std::vector<char> gone(rank, params.axis ? 0 : 1);
  if (!params.axis) return gone;
  for (int64_t axis : *params.axis) {
    STOKER_TRY(size_t at, axis_in(axis, rank));
    if (gone[at]) return Error::invalid("axis ", axis, " is listed twice");
    gone[at] = 1;
  }
  return gone;
}

std::vector<int64_t> dims_left(Dims dims, const std::vector<char>& gone, bool keepdims) {
  std::vector<int64_t> left;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!gone[i])
      left.push_back(dims[i]);
    else if (keepdims)
      left.push_back(1);
  }
  return left;
}

// A block as alternating groups of kept and reduced axes.
struct Group {
  int64_t count;
  bool gone;
};
std::vector<Group> groups_of(Dims dims, const std::vector<char>& gone) {
  std::vector<Group> groups;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!groups.empty() && groups.back().gone == (gone[i] != 0))
      groups.back().count *= dims[i];
    else
      groups.push_back({dims[i], gone[i] != 0});
  }
  return groups;
}

struct Sum {
  template <typename T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps around
    else
      return a + b;
  }
};
struct Max {
  template <typename T>
  static T join(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Min {
  template <typename T>
  static T join(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// Reduces [outer, n, inner] to [outer, inner], n >= 1. A contiguous axis is reduced in eight lanes, and the lanes in
// pairs. This order is the same for vectors of any width.
template <typename F, typename In, typename Out>
void reduce_axis(const In* from, int64_t outer, int64_t n, int64_t inner, Out* to) {
  constexpr int64_t kLanes = 8;
  for (int64_t o = 0; o < outer; ++o, from += n * inner, to += inner) {
    if (inner == 1 && n >= kLanes) {
      std::array<Out, kLanes> lane;
      for (int64_t k = 0; k < kLanes; ++k) lane[k] = static_cast<Out>(from[k]);
      int64_t i = kLanes;
      for (; i + kLanes <= n; i += kLanes)
        for (int64_t k = 0; k < kLanes; ++k) lane[k] = F::join(lane[k], static_cast<Out>(from[i + k]));
      for (int64_t k = 0; i < n; ++i, ++k) lane[k] = F::join(lane[k], static_cast<Out>(from[i]));
      for (int64_t width = kLanes / 2; width > 0; width /= 2)
        for (int64_t k = 0; k < width; ++k) lane[k] = F::join(lane[k], lane[k + width]);
      *to = lane[0];
      continue;
    }
    for (int64_t k = 0; k < inner; ++k) to[k] = static_cast<Out>(from[k]);
    for (int64_t i = 1; i < n; ++i)
      for (int64_t k = 0; k < inner; ++k) to[k] = F::join(to[k], static_cast<Out>(from[i * inner + k]));
  }
}

// Reduces all groups, the last one first. The result is in the vector.
template <typename F, typename Out, typename In>
std::vector<Out> reduce_groups(const In* from, std::vector<Group> groups) {
  std::vector<Out> made;
  bool first = true;
  while (true) {
    size_t at = groups.size();
    while (at > 0 && !groups[at - 1].gone) --at;
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i + 1 < at; ++i) outer *= groups[i].count;
    for (size_t i = at; i < groups.size(); ++i) inner *= groups[i].count;
    if (at == 0) {
      if (first) made.assign(from, from + inner);
      return made;
    }
    const int64_t n = groups[at - 1].count;
    std::vector<Out> next(static_cast<size_t>(outer * inner), Out{});
    if (n > 0) {
      if (first)
        reduce_axis<F>(from, outer, n, inner, next.data());
      else
        reduce_axis<F>(made.data(), outer, n, inner, next.data());
    }
    made = std::move(next);
    first = false;
    groups.erase(groups.begin() + static_cast<ptrdiff_t>(at - 1));
  }
}

// float16 and bfloat16 are read as floats, bools as bytes.
template <typename Body>
Result<void> with_plain(const Array& from, Body&& body) {
  const DType type = from.type();
  if (type == DType::kFloat16 || type == DType::kBfloat16) {
    STOKER_TRY(Array wide, converted(from, DType::kFloat32));
    body(static_cast<const float*>(wide.raw()));
    return {};
  }
  visit_dtype(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>)
      body(static_cast<const uint8_t*>(from.raw()));
    else if constexpr (std::is_arithmetic_v<T>)
      body(static_cast<const T*>(from.raw()));
  });
  return {};
}

template <typename T>
void store(const std::vector<T>& values, Array& out) {
  // uint8_t is a bool only if the result is a bool.
  const DType type = std::is_same_v<T, uint8_t> && out.type() == DType::kBool ? DType::kBool : dtype_of<T>;
  convert_items(values.data(), type, out.mutable_raw(), out.type(), static_cast<int64_t>(values.size()));
}

// `out` has the dims of the result.
Result<void> reduce_into(Kind kind, const Array& from, const std::vector<char>& gone, Array& out) {
  const std::vector<Group> groups = groups_of(from.shape(), gone);
  int64_t joined = 1;
  for (const Group& group : groups)
    if (group.gone) joined *= group.count;
  return with_plain(from, [&](const auto* values) {
    using T = std::remove_cvref_t<decltype(*values)>;
    switch (kind) {
      case Kind::kSum:
        if constexpr (std::is_floating_point_v<T>)
          store(reduce_groups<Sum, double>(values, groups), out);
        else
          store(reduce_groups<Sum, uint64_t>(values, groups), out);
        return;
      case Kind::kMean: {
        std::vector<double> sums = reduce_groups<Sum, double>(values, groups);
        for (double& sum : sums) sum /= static_cast<double>(joined);
        store(sums, out);
        return;
      }
      case Kind::kMax: store(reduce_groups<Max, T>(values, groups), out); return;
      case Kind::kMin: store(reduce_groups<Min, T>(values, groups), out); return;
    }
  });
}

Result<void> check_not_empty(Kind kind, Dims dims, const std::vector<char>& gone) {
  if (kind == Kind::kSum || kind == Kind::kMean) return {};
  for (size_t i = 0; i < dims.size(); ++i)
    if (gone[i] && dims[i] == 0)
      return Error::invalid("cannot reduce an empty axis: the array has shape ", shape_text(dims));
  return {};
}

Result<Column> reduce(Kind kind, const ReduceParams& params, const Column& input, OpRows& rows, Context& context) {
  if (const std::optional<Array> block = as_block(input, rows)) {
    const Dims dims = row_dims(*block);
    STOKER_TRY(DType type, result_type(kind, block->type()));
    STOKER_TRY(std::vector<char> gone, axes_in(params, dims.size()));
    STOKER_TRY(check_not_empty(kind, dims, gone));
    const std::vector<int64_t> left = dims_left(dims, gone, params.keepdims);
    STOKER_TRY(Array out, context.result_block(with_rows(block->dim(0), left), type));
    gone.insert(gone.begin(), 0);
    STOKER_TRY(reduce_into(kind, *block, gone, out));
    return Column(std::move(out));
  }
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    const Array row = input_row(input, i);
    STOKER_TRY(DType type, result_type(kind, row.type()));
    STOKER_TRY(std::vector<char> gone, axes_in(params, row.shape().size()));
    STOKER_TRY(check_not_empty(kind, row.shape(), gone));
    STOKER_TRY(Array out, context.result(dims_left(row.shape(), gone, params.keepdims), type));
    STOKER_TRY(reduce_into(kind, row, gone, out));
    return out;
  });
}

Result<LeafSpec> reduce_spec(Kind kind, const ReduceParams& params, const LeafSpec& input) {
  LeafSpec spec;
  if (input.type) {
    STOKER_TRY(spec.type, result_type(kind, *input.type));
  }
  if (input.shape) {
    STOKER_TRY(std::vector<char> gone, axes_in(params, input.shape->size()));
    spec.shape = dims_left(*input.shape, gone, params.keepdims);
  } else if (!params.axis && !params.keepdims) {
    spec.shape.emplace();
  }
  return spec;
}

}  // namespace

Result<LeafSpec> ReduceSum::spec(std::span<const LeafSpec> inputs) const {
  return reduce_spec(Kind::kSum, *this, inputs[0]);
}
Result<Column> ReduceSum::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return reduce(Kind::kSum, *this, inputs[0], rows, context);
}

Result<LeafSpec> ReduceMean::spec(std::span<const LeafSpec> inputs) const {
  return reduce_spec(Kind::kMean, *this, inputs[0]);
}
Result<Column> ReduceMean::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return reduce(Kind::kMean, *this, inputs[0], rows, context);
}

Result<LeafSpec> ReduceMax::spec(std::span<const LeafSpec> inputs) const {
  return reduce_spec(Kind::kMax, *this, inputs[0]);
}
Result<Column> ReduceMax::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return reduce(Kind::kMax, *this, inputs[0], rows, context);
}

Result<LeafSpec> ReduceMin::spec(std::span<const LeafSpec> inputs) const {
  return reduce_spec(Kind::kMin, *this, inputs[0]);
}
Result<Column> ReduceMin::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return reduce(Kind::kMin, *this, inputs[0], rows, context);
}

Value reduce_sum(Value value, ReduceParams params) { return call(ReduceSum{std::move(params)}, {std::move(value)}); }
Value reduce_mean(Value value, ReduceParams params) { return call(ReduceMean{std::move(params)}, {std::move(value)}); }
Value reduce_max(Value value, ReduceParams params) { return call(ReduceMax{std::move(params)}, {std::move(value)}); }
Value reduce_min(Value value, ReduceParams params) { return call(ReduceMin{std::move(params)}, {std::move(value)}); }

}  // namespace stoker
