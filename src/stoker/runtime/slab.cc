#include "stoker/runtime/slab.h"

#include <algorithm>
#include <cstring>

namespace stoker {

std::optional<Array> Slab::block(size_t leaf, int64_t first, int64_t n, Dims dims, DType type) {
  if (type == DType::kBytes || first + n > rows_) return std::nullopt;
  const MutexLock lock(mutex_);
  if (leaves_.size() <= leaf) leaves_.resize(leaf + 1);
  std::optional<Array>& whole = leaves_[leaf];
  if (!whole) {
    std::vector<int64_t> all{rows_};
    all.insert(all.end(), dims.begin(), dims.end());
    Result<Array> made = Array::make(all, type);
    if (!made) return std::nullopt;
    whole = *std::move(made);
  }
  if (whole->type() != type || !std::ranges::equal(whole->shape().subspan(1), dims)) return std::nullopt;
  return whole->rows(first, n);
}

std::optional<Array> SlabRows::row_of(size_t leaf, int32_t row, Dims dims, DType type) {
  std::optional<Array> block = slab_.block(leaf, first_ + row, 1, dims, type);
  if (!block) return std::nullopt;
  return block->reshaped(dims);
}

std::optional<Array> SlabRows::block_of(size_t leaf, Dims dims, DType type) {
  if (dims.empty() || dims[0] != rows_) return std::nullopt;
  return slab_.block(leaf, first_, rows_, dims.subspan(1), type);
}

void SlabRows::copy_into_slab(Run& run) {
  if (!run.failed.empty() || run.size != rows_) return;
  for (size_t leaf = 0; leaf < run.columns.size(); ++leaf) copy_into_slab(run.columns[leaf], leaf);
}

void SlabRows::copy_into_slab(Column& column, size_t leaf) {
  const Array first = column.row(0);
  if (first.type() == DType::kBytes) return;
  std::optional<Array> block = slab_.block(leaf, first_, rows_, first.shape(), first.type());
  if (!block) return;
  if (column.dense() && column.block().raw() == block->raw()) {
    column = Column(*std::move(block));
    return;
  }
  if (!column.dense())
    for (const Array& row : column.rows())
      if (row.type() != first.type() || !std::ranges::equal(row.shape(), first.shape())) return;
  const auto bytes = static_cast<size_t>(first.byte_size());
  if (block->frozen()) return;  // user code kept a row of it; the batch is built in other memory
  auto* to = static_cast<std::byte*>(const_cast<void*>(block->raw()));  // no other ticket writes to these rows
  if (column.dense()) {
    std::memcpy(to, column.block().raw(), bytes * static_cast<size_t>(rows_));
  } else {
    for (int64_t i = 0; i < rows_; ++i) {
      const Array& row = column.rows()[static_cast<size_t>(i)];
      std::byte* at = to + bytes * static_cast<size_t>(i);
      if (row.raw() != at) std::memcpy(at, row.raw(), bytes);
    }
  }
  column = Column(*std::move(block));
}

}  // namespace stoker
