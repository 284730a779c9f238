#include "stoker/runtime/delivery.h"

namespace stoker {
namespace {

// Only memory that the receiver can write to has to be its own. Byte strings are read-only, and a row that is a single
// number is copied out of its block.
bool is_writable_memory(const Array& array) { return array.type() != DType::kBytes && array.owner(); }
bool has_array_rows(const Column& column) { return !column.dense() || column.block().rank() > 1; }

bool overlap(const Array& a, const Array& b) {
  const auto* from_a = static_cast<const std::byte*>(a.raw());
  const auto* from_b = static_cast<const std::byte*>(b.raw());
  return from_a < from_b + b.byte_size() && from_b < from_a + a.byte_size();
}

bool overlap(const Column& earlier, int64_t row, const Array& array) {
  if (!has_array_rows(earlier)) return false;
  const Array other = earlier.row(row);
  return is_writable_memory(other) && overlap(other, array);
}

Result<void> own_block(Column& column, std::span<const Column> earlier) {
  const Array& block = column.block();
  bool copies = block.frozen();
  for (const Column& other : earlier) {
    if (copies) break;
    if (other.dense()) {
      copies = has_array_rows(other) && is_writable_memory(other.block()) && overlap(other.block(), block);
      continue;
    }
    for (int64_t row = 0; row < other.size() && !copies; ++row) copies = overlap(other, row, block);
  }
  if (!copies) return {};
  STOKER_TRY(Array copy, block.clone());
  column = Column(std::move(copy));
  return {};
}

Result<void> own_rows(Column& column, std::span<const Column> earlier) {
  for (int64_t row = 0; row < column.size(); ++row) {
    const Array& array = column.rows()[static_cast<size_t>(row)];
    if (!is_writable_memory(array) || array.is_number()) continue;
    bool copies = array.frozen();
    for (const Column& other : earlier) copies = copies || overlap(other, row, array);
    if (!copies) continue;
    STOKER_TRY(Array copy, array.clone());
    column.set_row(row, std::move(copy));
  }
  return {};
}

void prepare_to_read(const Array& memory, const Backing*& last) {
  const Backing* const backing = memory.backing();
  if (backing && backing != last) backing->prepare_to_read();
  if (backing) last = backing;
}

}  // namespace

void prepare_to_read(const Run& run) {
  if (!Buffer::any_backed()) return;
  const Backing* last = nullptr;
  for (const Column& column : run.columns) {
    if (column.dense()) prepare_to_read(column.block(), last);
    for (const Array& row : column.rows()) prepare_to_read(row, last);
  }
}

Result<void> make_receivers_own(Run& run) {
  for (size_t i = 0; i < run.columns.size(); ++i) {
    Column& column = run.columns[i];
    if (!has_array_rows(column)) continue;
    const std::span<const Column> earlier(run.columns.data(), i);
    if (!column.dense())
      STOKER_TRY(own_rows(column, earlier));
    else if (is_writable_memory(column.block()))
      STOKER_TRY(own_block(column, earlier));
  }
  return {};
}

}  // namespace stoker
