#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// Shared by the operations on columns. A column is processed as one block if its rows have the same type and shape, and
// either are adjacent or are small enough to be copied together. Otherwise, it is processed row by row.

// How strings in separate arrays are handled.
enum class Strings {
  kLeft,    // they are not combined into a block
  kViewed,  // the block has views of them, valid while the column exists
};

// Returns the rows as one array of shape [n] + row shape (n is 1 for a constant), or nothing. In a block of copies,
// failed rows are zero.
std::optional<Array> as_block(const Column& column, const OpRows& rows, Strings strings = Strings::kLeft);

// Returns [n] + dims.
std::vector<int64_t> with_rows(int64_t n, Dims dims);
// Returns the dims of one row of a block.
inline Dims row_dims(const Array& block) { return block.shape().subspan(1); }

// Calls `body(row)` -> Result<Array> for rows that have not failed.
template <typename Body>
Column each_row(OpRows& rows, Context& context, Body&& body) {
  Arrays made(static_cast<size_t>(rows.size));
  for (int32_t i = 0; i < rows.size; ++i) {
    if (rows.any_failed() && rows.has_failed(i)) continue;
    context.set_row(i);
    Result<Array> row = body(i);
    if (row)
      made[static_cast<size_t>(i)] = *std::move(row);
    else
      rows.fail(i, std::move(row).error());
  }
  return Column(std::move(made));
}

// Returns the number of an axis that may be counted from the end. The error names the rank.
Result<size_t> axis_in(int64_t axis, size_t rank);

}  // namespace stoker
