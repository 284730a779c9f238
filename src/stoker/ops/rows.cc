#include "stoker/ops/rows.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

// In bytes. Smaller rows are copied into one block, which costs less than processing them one by one.
constexpr int64_t kSmallRow = 1024;

const Array* first_good(const Column& column, const OpRows& rows) {
  for (int32_t i = 0; i < rows.size; ++i)
    if (!rows.has_failed(i)) return &column.rows()[static_cast<size_t>(i)];
  return nullptr;
}

}  // namespace

std::vector<int64_t> with_rows(int64_t n, Dims dims) {
  std::vector<int64_t> all;
  all.reserve(dims.size() + 1);
  all.push_back(n);
  all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

std::optional<Array> as_block(const Column& column, const OpRows& rows, Strings strings) {
  if (column.dense()) return column.block();
  if (column.size() == 1) {
    const Array& only = column.rows()[0];
    return only.reshaped(with_rows(1, only.shape()));
  }
  const Array* model = first_good(column, rows);
  if (!model) return std::nullopt;
  const bool text = model->type() == DType::kBytes;
  if (text ? strings == Strings::kLeft || model->rank() > 0 : model->byte_size() > kSmallRow) return std::nullopt;
  const bool any_failed = rows.any_failed();
  for (int32_t i = 0; i < rows.size; ++i) {
    const Array& row = column.rows()[static_cast<size_t>(i)];
    if (row.type() == model->type() && std::ranges::equal(row.shape(), model->shape())) continue;
    if (!any_failed || !rows.has_failed(i)) return std::nullopt;
  }
  Result<Array> block = Array::make(with_rows(rows.size, model->shape()), model->type());
  if (!block) return std::nullopt;
  if (text) {
    auto views = block->mutable_values<Bytes>();
    for (size_t i = 0; i < views.size(); ++i)
      if (column.rows()[i].type() == DType::kBytes) views[i] = column.rows()[i].bytes();
    return *std::move(block);
  }
  const auto bytes = static_cast<size_t>(model->byte_size());
  auto* to = static_cast<std::byte*>(block->mutable_raw());
  for (int32_t i = 0; i < rows.size; ++i, to += bytes) {
    if (any_failed && rows.has_failed(i))
      std::memset(to, 0, bytes);
    else
      std::memcpy(to, column.rows()[static_cast<size_t>(i)].raw(), bytes);
  }
  return *std::move(block);
}

Result<size_t> axis_in(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n)
    return Error::invalid("axis ", axis, " is out of range for an array with ", rank, " axes");
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

}  // namespace stoker
