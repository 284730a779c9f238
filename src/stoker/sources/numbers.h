#pragma once

#include <span>

#include "stoker/core/element.h"

namespace stoker {

// Returns start + i * step for each position i, cast to a type as in C: integers that do not fit wrap around. Shared by
// `range` and `counter`.
Result<Run> numbers_at(std::span<const int64_t> positions, int64_t start, int64_t step, DType type);

// Returns InvalidArgument if the type is not a number type.
Result<void> check_number_type(DType type);

}  // namespace stoker
