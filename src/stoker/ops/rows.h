#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/graph/op.h"

namespace stoker {

// What operations share in going over columns. A column is worked on as one
// block where its rows are alike and either lie together or are small enough
// to be gathered; else row by row.

// What happens to strings that lie in n arrays.
enum class Strings {
  kLeft,    // no block is made of them
  kViewed,  // the block has views of them: good while the column lives
};

// The rows as one array of shape [n] + row shape (n is 1 for a constant), or
// nothing. Failed rows of a gathered block are zero.
std::optional<Array> as_block(const Column& column, const OpRows& rows, Strings strings = Strings::kLeft);

// [n] + dims
std::vector<int64_t> with_rows(int64_t n, Dims dims);
// The dims of one row of a block.
inline Dims row_dims(const Array& block) { return block.dims().subspan(1); }

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

// The place of an axis that may count from the end; an error names the shape.
Result<size_t> axis_in(int64_t axis, size_t rank);

}  // namespace stoker
