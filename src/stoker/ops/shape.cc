#include "stoker/ops/shape.h"

#include <algorithm>
#include <cstring>

#include "stoker/graph/promotion.h"
#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

// In bytes. Larger parts of a row are returned as views; smaller ones are copied into one block.
constexpr int64_t kLargePart = 4096;

using Shape = std::vector<int64_t>;

Shape shape_of_dims(Dims dims) { return {dims.begin(), dims.end()}; }

// The number of values in some of the dims of an array. If their product overflows, another dim is 0.
int64_t count_in(Dims dims) { return count_of(dims).value_or(0); }

// Shared by operations that only change the dims: the function maps the dims of a row to those of the result.
template <typename NewDims>
Result<Column> under_dims(const Column& input, OpRows& rows, Context& context, NewDims new_dims) {
  if (input.dense() || input.size() == 1) {
    const Array block = *as_block(input, rows);
    STOKER_TRY(Shape dims, new_dims(row_dims(block)));
    return Column(block.reshaped(with_rows(block.dim(0), dims)));
  }
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    const Array row = input_row(input, i);
    STOKER_TRY(Shape dims, new_dims(row.shape()));
    return row.reshaped(dims);
  });
}

// ---- getitem

struct Range {
  int64_t first = 0, step = 1, count = 0;
};

Result<Range> range_in(const Getitem& what, int64_t n) {
  if (what.index) {
    if (*what.index < -n || *what.index >= n)
      return Error::invalid("index ", *what.index, " is out of range for an axis of size ", n);
    return Range{*what.index < 0 ? *what.index + n : *what.index, 1, 1};
  }
  const int64_t step = what.step;
  const auto clamp = [&](int64_t place) {
    if (place < 0) place += n;
    return std::clamp<int64_t>(place, step > 0 ? 0 : -1, step > 0 ? n : n - 1);
  };
  const int64_t first = what.start ? clamp(*what.start) : step > 0 ? 0 : n - 1;
  const int64_t last = what.stop ? clamp(*what.stop) : step > 0 ? n : -1;
  const int64_t way = step > 0 ? last - first : first - last;
  if (way <= 0) return Range{first, step, 0};
  // The negative of the lowest number overflows.
  const auto stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return Range{first, step, static_cast<int64_t>((static_cast<uint64_t>(way) - 1) / stride) + 1};
}

Result<void> check_getitem(const Getitem& what) {
  if (what.index && (what.start || what.stop || what.step != 1))
    return Error::invalid("expected an index or a range, got both");
  if (what.step == 0) return Error::invalid("step is 0, expected a positive or negative number");
  return {};
}

Shape dims_after(Dims dims, size_t axis, const Range& range, bool index) {
  Shape result = shape_of_dims(dims);
  if (index)
    result.erase(result.begin() + static_cast<ptrdiff_t>(axis));
  else
    result[axis] = range.count;
  return result;
}

// Copies a range of an axis. For numbers only.
void copy_range(const Array& from, size_t axis, const Range& range, Array& to) {
  const int64_t outer = count_in(from.shape().first(axis));
  const auto part = static_cast<size_t>(count_in(from.shape().subspan(axis + 1))) * size_of(from.type());
  const auto whole = static_cast<size_t>(from.shape()[axis]) * part;
  const auto* in = static_cast<const std::byte*>(from.raw());
  auto* out = static_cast<std::byte*>(to.mutable_raw());
  for (int64_t o = 0; o < outer; ++o, in += whole)
    for (int64_t i = 0; i < range.count; ++i, out += part)
      std::memcpy(out, in + static_cast<size_t>(range.first + i * range.step) * part, part);
}

Result<Array> strings_in_range(const Array& from, size_t axis, const Range& range, Dims dims) {
  const int64_t outer = count_in(from.shape().first(axis)), inner = count_in(from.shape().subspan(axis + 1));
  std::vector<Bytes> texts;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < range.count; ++i)
      for (int64_t k = 0; k < inner; ++k)
        texts.push_back(from.bytes_at((o * from.shape()[axis] + range.first + i * range.step) * inner + k));
  if (dims.empty()) return Array::of_bytes(texts[0]);
  return Array::of_strings(texts, dims);
}

// ---- concat and stack

// Returns the dims of the inputs joined along `axis`; -1 is unknown.
Result<Shape> joined_dims(const std::vector<Shape>& inputs, size_t axis) {
  Shape joined = inputs[0];
  for (size_t k = 1; k < inputs.size(); ++k) {
    const Shape& dims = inputs[k];
    bool fits = dims.size() == joined.size();
    for (size_t d = 0; fits && d < dims.size(); ++d) {
      if (d == axis) {
        joined[d] = joined[d] < 0 || dims[d] < 0 ? -1 : joined[d] + dims[d];
      } else {
        fits = joined[d] < 0 || dims[d] < 0 || joined[d] == dims[d];
        joined[d] = std::max(joined[d], dims[d]);
      }
    }
    if (!fits)
      return Error::invalid("shapes ", shape_text(inputs[0]), " and ", shape_text(dims),
                            " cannot be concatenated along axis ", axis);
  }
  return joined;
}

Result<DType> joined_type(std::span<const DType> types) {
  DType type = types[0];
  for (DType other : types) {
    const std::optional<DType> both = promote(type, other);
    if (!both) return Error::invalid("cannot combine ", name_of(type), " and ", name_of(other));
    type = *both;
  }
  return type;
}

Result<Array> joined_strings(const std::vector<Array>& inputs, size_t axis, Dims dims) {
  std::vector<Bytes> texts;
  const int64_t outer = count_in(dims.first(axis));
  for (int64_t o = 0; o < outer; ++o)
    for (const Array& input : inputs) {
      const int64_t part = count_in(input.shape().subspan(axis));
      for (int64_t i = 0; i < part; ++i) texts.push_back(input.bytes_at(o * part + i));
    }
  return Array::of_strings(texts, dims);
}

// Joins the inputs of one row, or of one block, in which case `axis` also counts the axis of rows.
Result<Array> joined(std::vector<Array> inputs, int64_t axis, bool stacked, Context& context) {
  std::vector<Shape> shapes;
  std::vector<DType> types;
  const size_t rank = static_cast<size_t>(inputs[0].rank()) + (stacked ? 1 : 0);
  if (rank > kMaxDims) return Error::invalid("the result has more than ", kMaxDims, " axes");
  if (rank == 0) return Error::invalid("scalars cannot be concatenated; use stack");
  STOKER_TRY(size_t at, axis_in(axis, rank));
  const Shape first = shape_of_dims(inputs[0].shape());
  for (Array& input : inputs) {
    Shape dims = shape_of_dims(input.shape());
    if (stacked && dims != first)
      return Error::invalid("shapes ", shape_text(first), " and ", shape_text(dims), " cannot be stacked");
    if (stacked) {
      dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), 1);
      input = input.reshaped(dims);
    }
    shapes.push_back(std::move(dims));
    types.push_back(input.type());
  }
  STOKER_TRY(Shape dims, joined_dims(shapes, at));
  STOKER_TRY(DType type, joined_type(types));
  if (type == DType::kBytes) return joined_strings(inputs, at, dims);
  for (Array& input : inputs) {
    STOKER_TRY(input, converted(input, type));
  }
  STOKER_TRY(Array out, context.result(dims, type));
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  for (int64_t o = 0, outer = count_in(Dims(dims).first(at)); o < outer; ++o)
    for (const Array& input : inputs) {
      const auto part = static_cast<size_t>(count_in(input.shape().subspan(at))) * size_of(type);
      std::memcpy(to, static_cast<const std::byte*>(input.raw()) + static_cast<size_t>(o) * part, part);
      to += part;
    }
  return out;
}

Result<Column> join_rows(std::span<const Column> inputs, int64_t axis, bool stacked, OpRows& rows, Context& context) {
  if (inputs.empty()) return Error::invalid("expected at least one array, got none");
  return each_row(rows, context, [&](int32_t i) {
    std::vector<Array> row;
    for (const Column& input : inputs) row.push_back(input_row(input, i));
    return joined(std::move(row), axis, stacked, context);
  });
}

Result<LeafSpec> joined_spec(std::span<const LeafSpec> inputs, int64_t axis, bool stacked) {
  if (inputs.empty()) return Error::invalid("expected at least one array, got none");
  LeafSpec spec;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (const LeafSpec& input : inputs) {
    if (input.type) types.push_back(*input.type);
    if (input.shape) shapes.push_back(*input.shape);
  }
  if (types.size() == inputs.size()) {
    STOKER_TRY(spec.type, joined_type(types));
  }
  if (shapes.size() != inputs.size()) return spec;
  const size_t rank = shapes[0].size() + (stacked ? 1 : 0);
  if (rank == 0) return Error::invalid("scalars cannot be concatenated; use stack");
  STOKER_TRY(size_t at, axis_in(axis, rank));
  if (stacked)
    for (Shape& shape : shapes) shape.insert(shape.begin() + static_cast<ptrdiff_t>(std::min(at, shape.size())), 1);
  STOKER_TRY(spec.shape, joined_dims(shapes, at));
  return spec;
}

}  // namespace

// ---- getitem

Result<LeafSpec> Getitem::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_getitem(*this));
  LeafSpec spec{inputs[0].type, {}};
  if (!inputs[0].shape) return spec;
  STOKER_TRY(size_t at, axis_in(axis, inputs[0].shape->size()));
  const int64_t dim = (*inputs[0].shape)[at];
  Range range{0, 1, -1};
  if (dim >= 0) {
    STOKER_TRY(range, range_in(*this, dim));
  }
  spec.shape = dims_after(*inputs[0].shape, at, range, index.has_value());
  return spec;
}

Result<Column> Getitem::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(check_getitem(*this));
  const std::optional<Array> block = as_block(inputs[0], rows);
  if (block && block->type() != DType::kBytes) {
    STOKER_TRY(size_t at, axis_in(axis, row_dims(*block).size()));
    STOKER_TRY(Range range, range_in(*this, row_dims(*block)[at]));
    const Shape dims = dims_after(row_dims(*block), at, range, index.has_value());
    if (count_in(dims) * static_cast<int64_t>(size_of(block->type())) < kLargePart) {
      STOKER_TRY(Array out, context.result_block(with_rows(block->dim(0), dims), block->type()));
      copy_range(*block, at + 1, range, out);
      return Column(std::move(out));
    }
  }
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    const Array row = input_row(inputs[0], i);
    STOKER_TRY(size_t at, axis_in(axis, row.shape().size()));
    STOKER_TRY(Range range, range_in(*this, row.shape()[at]));
    if (at == 0 && index) return row.row(range.first);
    if (at == 0 && range.step == 1) return row.rows(range.first, range.count);
    const Shape dims = dims_after(row.shape(), at, range, index.has_value());
    if (row.type() == DType::kBytes) return strings_in_range(row, at, range, dims);
    STOKER_TRY(Array out, context.result(dims, row.type()));
    copy_range(row, at, range, out);
    return out;
  });
}

// ---- reshape

namespace {

// Replaces a size of -1. `count` is empty if the number of values is unknown.
Result<Shape> filled_in(const Shape& shape, std::optional<int64_t> count) {
  if (shape.size() > kMaxDims) return Error::invalid("expected at most ", kMaxDims, " axes, got ", shape.size());
  if (std::ranges::count(shape, -1) > 1 || std::ranges::any_of(shape, [](int64_t dim) { return dim < -1; }))
    return Error::invalid("expected sizes of at least 0 and at most one -1, got shape ", shape_text(shape));
  if (!count) return shape;
  Shape full = shape;
  const auto open = std::ranges::find(full, -1);
  if (open != full.end()) *open = 1;
  const std::optional<int64_t> rest = count_of(full);
  if (open != full.end()) {
    if (!rest || *rest == 0 || *count % *rest != 0)
      return Error::invalid(*count, " values cannot be reshaped to ", shape_text(shape));
    *open = *count / *rest;
  } else if (rest != count) {
    return Error::invalid(*count, " values cannot be reshaped to ", shape_text(shape));
  }
  return full;
}

}  // namespace

Result<LeafSpec> Reshape::spec(std::span<const LeafSpec> inputs) const {
  LeafSpec spec{inputs[0].type, {}};
  const auto& known = inputs[0].shape;
  const bool whole = known && std::ranges::none_of(*known, [](int64_t dim) { return dim < 0; });
  STOKER_TRY(spec.shape, filled_in(shape, whole ? count_of(*known) : std::nullopt));
  return spec;
}

Result<Column> Reshape::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return under_dims(inputs[0], rows, context, [&](Dims dims) { return filled_in(shape, count_in(dims)); });
}

// ---- expand_dims and squeeze

namespace {

Result<Shape> expanded(Dims dims, int64_t axis) {
  if (dims.size() >= kMaxDims) return Error::invalid("expected at most ", kMaxDims, " axes, got ", dims.size() + 1);
  STOKER_TRY(size_t at, axis_in(axis, dims.size() + 1));
  Shape result = shape_of_dims(dims);
  result.insert(result.begin() + static_cast<ptrdiff_t>(at), 1);
  return result;
}

Result<Shape> squeezed(Dims dims, const std::vector<int64_t>& axes) {
  std::vector<char> gone(dims.size(), 0);
  for (int64_t axis : axes) {
    STOKER_TRY(size_t at, axis_in(axis, dims.size()));
    if (dims[at] >= 0 && dims[at] != 1)
      return Error::invalid("axis ", axis, " of an array of shape ", shape_text(dims),
                            " cannot be removed, expected size 1");
    gone[at] = 1;
  }
  Shape result;
  for (size_t i = 0; i < dims.size(); ++i)
    if (axes.empty() ? dims[i] != 1 : !gone[i]) result.push_back(dims[i]);
  return result;
}

}  // namespace

Result<LeafSpec> ExpandDims::spec(std::span<const LeafSpec> inputs) const {
  LeafSpec spec{inputs[0].type, {}};
  if (inputs[0].shape) {
    STOKER_TRY(spec.shape, expanded(*inputs[0].shape, axis));
  }
  return spec;
}

Result<Column> ExpandDims::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return under_dims(inputs[0], rows, context, [&](Dims dims) { return expanded(dims, axis); });
}

Result<LeafSpec> Squeeze::spec(std::span<const LeafSpec> inputs) const {
  LeafSpec spec{inputs[0].type, {}};
  const auto& known = inputs[0].shape;
  if (!known || (axis.empty() && std::ranges::find(*known, -1) != known->end())) return spec;
  STOKER_TRY(spec.shape, squeezed(*known, axis));
  return spec;
}

Result<Column> Squeeze::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return under_dims(inputs[0], rows, context, [&](Dims dims) { return squeezed(dims, axis); });
}

// ---- shape_of

Result<LeafSpec> ShapeOf::spec(std::span<const LeafSpec> inputs) const {
  if (out_type != DType::kInt32 && out_type != DType::kInt64)
    return Error::invalid("out_type must be int32 or int64, got ", name_of(out_type));
  const auto& known = inputs[0].shape;
  return LeafSpec{out_type, Shape{known ? static_cast<int64_t>(known->size()) : -1}};
}

Result<Column> ShapeOf::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  if (out_type != DType::kInt32 && out_type != DType::kInt64)
    return Error::invalid("out_type must be int32 or int64, got ", name_of(out_type));
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    const Array row = input_row(inputs[0], i);
    const auto rank = static_cast<int64_t>(row.rank());
    STOKER_TRY(Array out, context.result(Dims(&rank, 1), out_type));
    convert_items(row.shape().data(), DType::kInt64, out.mutable_raw(), out_type, rank);
    return out;
  });
}

// ---- concat and stack

Result<LeafSpec> Concat::spec(std::span<const LeafSpec> inputs) const { return joined_spec(inputs, axis, false); }
Result<Column> Concat::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return join_rows(inputs, axis, false, rows, context);
}

Result<LeafSpec> Stack::spec(std::span<const LeafSpec> inputs) const { return joined_spec(inputs, axis, true); }
Result<Column> Stack::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return join_rows(inputs, axis, true, rows, context);
}

Value getitem(Value value, int64_t index) { return call(Getitem{.index = index}, {std::move(value)}); }
Value getitem(Value value, Getitem range) { return call(range, {std::move(value)}); }
Value reshape(Value value, Reshape params) { return call(std::move(params), {std::move(value)}); }
Value expand_dims(Value value, ExpandDims params) { return call(params, {std::move(value)}); }
Value squeeze(Value value, Squeeze params) { return call(std::move(params), {std::move(value)}); }
Value shape_of(Value value, ShapeOf params) { return call(params, {std::move(value)}); }
Value concat(std::vector<Value> values, Concat params) { return call(params, std::move(values)); }
Value stack(std::vector<Value> values, Stack params) { return call(params, std::move(values)); }

}  // namespace stoker
