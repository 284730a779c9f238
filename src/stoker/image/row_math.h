#pragma once

#include <cstdint>

namespace stoker {

// Arithmetic on rows of float32: the bits of the plain operators.
enum class RowMath : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

// Whether what is written is soon read again. What is not goes past the caches,
// where it would push out what is; settle_rows() before another thread reads it.
enum class Wanted : uint8_t { kSoon, kLater };
void settle_rows();

// to[i] = from[i] op by[i]; with one `by` for all.
void row_math(RowMath op, const float* from, const float* by, int64_t count, float* to, Wanted wanted = Wanted::kSoon);
void row_math(RowMath op, const float* from, float by, int64_t count, float* to, Wanted wanted = Wanted::kSoon);

// The same numbers as float32.
void widen_row(const uint8_t* from, int64_t count, float* to);

}  // namespace stoker
