#include "stoker/graph/op.h"

#include <algorithm>

namespace stoker {

bool OpRows::has_failed(int32_t row) const {
  const auto at = std::ranges::lower_bound(*failed, row, {}, &Failure::row);
  return at != failed->end() && at->row == row;
}

void OpRows::fail(int32_t row, Error error) {
  const auto at = std::ranges::lower_bound(*failed, row, {}, &Failure::row);
  if (at != failed->end() && at->row == row) return;
  if (error.place().stage.empty()) error.at().stage = op;
  failed->insert(at, Failure{row, std::move(error), false});
}

}  // namespace stoker
