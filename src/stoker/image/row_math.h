#pragma once

#include <cstdint>

namespace stoker {

// Arithmetic on rows of float32: the bits of the plain operators.
enum class RowMath : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

// to[i] = from[i] op by[i]; with one `by` for all.
void row_math(RowMath op, const float* from, const float* by, int64_t count, float* to);
void row_math(RowMath op, const float* from, float by, int64_t count, float* to);

// The same numbers as float32.
void widen_row(const uint8_t* from, int64_t count, float* to);

}  // namespace stoker
