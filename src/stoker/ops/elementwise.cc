#include "stoker/ops/elementwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stoker/graph/promotion.h"
#include "stoker/ops/broadcast.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

// Both operands, converted for the loop.
struct Operands {
  Array a, b;
  BinaryLoop loop = nullptr;
  DType result{};
};

// A single string is stored as its characters, but the loops read a table of views.
Array as_table(const Array& array) {
  const int64_t one = 1;
  return array.type() == DType::kBytes && array.rank() == 0 ? array.reshaped(Dims(&one, 1)) : array;
}

Result<Operands> prepared(const BinaryItems& items, const Array& a, const Array& b) {
  STOKER_TRY(ItemTypes types, items.types(a.type(), b.type()));
  const bool mixed = types.computed == DType::kFloat64 && is_integer(a.type()) && is_integer(b.type());
  if (mixed && items.signed_unsigned) {
    const bool a_signed = is_signed_integer(a.type());
    STOKER_TRY(Array left, converted(a, a_signed ? DType::kInt64 : DType::kUint64));
    STOKER_TRY(Array right, converted(b, a_signed ? DType::kUint64 : DType::kInt64));
    return Operands{std::move(left), std::move(right), a_signed ? items.signed_unsigned : items.unsigned_signed,
                    types.result};
  }
  STOKER_TRY(Array left, converted(as_table(a), types.computed));
  STOKER_TRY(Array right, converted(as_table(b), types.computed));
  return Operands{std::move(left), std::move(right), items.loops[static_cast<size_t>(types.computed)], types.result};
}

// A few items, repeated in memory so that loops over them are long.
class Pattern {
 public:
  Pattern(int64_t period, DType type) : period_(period), size_(static_cast<int64_t>(size_of(type))) {
    if (period_) items_.resize(static_cast<size_t>(length() * size_));
  }
  explicit operator bool() const { return period_ != 0; }
  int64_t length() const { return std::max<int64_t>(1, kItems / period_) * period_; }
  const std::byte* written_out(const std::byte* from) {
    const auto bytes = static_cast<size_t>(period_ * size_);
    for (size_t at = 0; at < items_.size(); at += bytes) std::memcpy(items_.data() + at, from, bytes);
    return items_.data();
  }

 private:
  static constexpr int64_t kItems = 1024;
  int64_t period_, size_;
  std::vector<std::byte> items_;
};

bool run_loop(const Operands& operands, Array& out, const BroadcastLoop& loop) {
  const auto size_a = static_cast<int64_t>(size_of(operands.a.type()));
  const auto size_b = static_cast<int64_t>(size_of(operands.b.type()));
  const auto size_out = static_cast<int64_t>(size_of(operands.result));
  Pattern pattern_a(loop.period_a(), operands.a.type()), pattern_b(loop.period_b(), operands.b.type());
  bool ok = true;
  loop.each([&](int64_t at_a, int64_t at_b, int64_t at_out, const BroadcastLoop::Axis& inner) {
    const auto* a = static_cast<const std::byte*>(operands.a.raw()) + at_a * size_a;
    const auto* b = static_cast<const std::byte*>(operands.b.raw()) + at_b * size_b;
    auto* to = static_cast<std::byte*>(out.mutable_raw()) + at_out * size_out;
    if (pattern_a) a = pattern_a.written_out(a);
    if (pattern_b) b = pattern_b.written_out(b);
    const int64_t most = pattern_a ? pattern_a.length() : pattern_b ? pattern_b.length() : inner.count;
    for (int64_t at = 0; at < inner.count; at += most) {
      ok &= operands.loop(a, inner.stride_a, b, inner.stride_b, to, std::min(most, inner.count - at));
      if (!pattern_a) a += most * size_a * inner.stride_a;
      if (!pattern_b) b += most * size_b * inner.stride_b;
      to += most * size_out;
    }
  });
  return ok;
}

Result<Column> blocks(const BinaryItems& items, const Array& a, const Array& b, OpRows& rows, Context& context) {
  STOKER_TRY(Operands operands, prepared(items, a, b));
  STOKER_TRY(std::vector<int64_t> dims, broadcast(row_dims(a), row_dims(b)));
  STOKER_TRY(Array out, context.result_block(with_rows(rows.size, dims), operands.result));
  if (run_loop(operands, out, BroadcastLoop(rows.size, a.dim(0), row_dims(a), b.dim(0), row_dims(b), dims)))
    return Column(std::move(out));
  const BroadcastLoop one(1, 1, row_dims(a), 1, row_dims(b), dims);  // find the rows that failed
  for (int32_t i = 0; i < rows.size; ++i) {
    Operands row{operands.a.row(a.dim(0) == 1 ? 0 : i), operands.b.row(b.dim(0) == 1 ? 0 : i), operands.loop,
                 operands.result};
    STOKER_TRY(Array made, Array::make(dims, operands.result));
    if (!run_loop(row, made, one)) rows.fail(i, Error::invalid(items.complaint));
  }
  return Column(std::move(out));
}

Result<Array> one_row(const BinaryItems& items, const Array& a, const Array& b, Context& context) {
  STOKER_TRY(Operands operands, prepared(items, a, b));
  STOKER_TRY(std::vector<int64_t> dims, broadcast(a.shape(), b.shape()));
  STOKER_TRY(Array out, context.result(dims, operands.result));
  if (!run_loop(operands, out, BroadcastLoop(1, 1, a.shape(), 1, b.shape(), dims)))
    return Error::invalid(items.complaint);
  return out;
}

}  // namespace

Error no_numbers(DType a, DType b) { return Error::invalid("expected numbers, got ", name_of(a), " and ", name_of(b)); }
Error no_numbers(DType a) { return Error::invalid("expected numbers, got ", name_of(a)); }

Result<Column> apply_items(const BinaryItems& items, std::span<const Column> inputs, OpRows& rows, Context& context) {
  const std::optional<Array> a = as_block(inputs[0], rows, Strings::kViewed);
  const std::optional<Array> b = a ? as_block(inputs[1], rows, Strings::kViewed) : std::nullopt;
  if (a && b) return blocks(items, *a, *b, rows, context);
  return each_row(rows, context,
                  [&](int32_t i) { return one_row(items, input_row(inputs[0], i), input_row(inputs[1], i), context); });
}

Result<Column> apply_items(const UnaryItems& items, std::span<const Column> inputs, OpRows& rows, Context& context) {
  const auto fill = [&](const Array& from, Array& out, DType computed) -> Result<void> {
    STOKER_TRY(Array ready, converted(from, computed));
    items.loops[static_cast<size_t>(computed)](ready.raw(), out.mutable_raw(), ready.count());
    return {};
  };
  if (const std::optional<Array> block = as_block(inputs[0], rows)) {
    STOKER_TRY(ItemTypes types, items.types(block->type()));
    STOKER_TRY(Array out, context.result_block(block->shape(), types.result));
    STOKER_TRY(fill(*block, out, types.computed));
    return Column(std::move(out));
  }
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    const Array row = input_row(inputs[0], i);
    STOKER_TRY(ItemTypes types, items.types(row.type()));
    STOKER_TRY(Array out, context.result(row.shape(), types.result));
    STOKER_TRY(fill(row, out, types.computed));
    return out;
  });
}

Result<LeafSpec> items_spec(const BinaryItems& items, std::span<const LeafSpec> inputs) {
  LeafSpec spec;
  if (inputs[0].type && inputs[1].type) {
    STOKER_TRY(ItemTypes types, items.types(*inputs[0].type, *inputs[1].type));
    spec.type = types.result;
  }
  if (inputs[0].shape && inputs[1].shape) {
    STOKER_TRY(spec.shape, broadcast(*inputs[0].shape, *inputs[1].shape));
  }
  return spec;
}

Result<LeafSpec> items_spec(const UnaryItems& items, std::span<const LeafSpec> inputs) {
  LeafSpec spec{{}, inputs[0].shape};
  if (inputs[0].type) {
    STOKER_TRY(ItemTypes types, items.types(*inputs[0].type));
    spec.type = types.result;
  }
  return spec;
}

}  // namespace stoker
