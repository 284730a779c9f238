#include "stoker/ops/cast.h"

#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/image_steps.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

Result<void> check_types(DType from, DType to) {
  if (from == to || (from != DType::kBytes && to != DType::kBytes)) return {};
  return Error::invalid("cannot cast ", name_of(from), " to ", name_of(to));
}

}  // namespace

Result<LeafSpec> Cast::spec(std::span<const LeafSpec> inputs) const {
  if (inputs[0].type) STOKER_TRY(check_types(*inputs[0].type, dtype));
  return LeafSpec{dtype, inputs[0].shape};
}

Result<Column> Cast::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  if (const std::optional<Array> block = as_block(inputs[0], rows)) {
    STOKER_TRY(check_types(block->type(), dtype));
    if (block->type() == dtype) return Column(*block);
    STOKER_TRY(Array out, context.result_block(block->shape(), dtype));
    convert_items(block->raw(), block->type(), out.mutable_raw(), dtype, block->count());
    return Column(std::move(out));
  }
  return each_row(rows, context, [&](int32_t i) -> Result<Array> {
    Array row = input_row(inputs[0], i);
    STOKER_TRY(check_types(row.type(), dtype));
    if (row.type() == dtype) return row;
    STOKER_TRY(Array out, context.result(row.shape(), dtype));
    convert_items(row.raw(), row.type(), out.mutable_raw(), dtype, row.count());
    return out;
  });
}

Contribution Cast::contribution() const {
  if (dtype != DType::kFloat32) return {};
  return Contribution::of(RowStep{[](const RowInput& input) -> std::optional<RowKernel> {
    if (input.type == DType::kFloat32) return RowKernel{};
    if (input.type != DType::kUint8) return std::nullopt;
    return RowKernel{DType::kFloat32, [](const void* row, int64_t width, int64_t channels, void* to, Wanted) {
                       widen_row(static_cast<const uint8_t*>(row), width * channels, static_cast<float*>(to));
                     }};
  }});
}

Value cast(Value value, DType dtype) { return call(Cast{dtype}, {std::move(value)}); }

}  // namespace stoker
