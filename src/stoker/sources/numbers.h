#pragma once

#include <span>

#include "stoker/core/element.h"

namespace stoker {

// start + i * step for each position i, cast to a type as C does: what wraps,
// wraps. For `range` and `counter`.
Result<Run> numbers_at(std::span<const int64_t> positions, int64_t start, int64_t step, DType type);

// An error when a type holds no numbers.
Result<void> check_number_type(DType type);

}  // namespace stoker
