#pragma once

#include <cstdint>

namespace stoker {

// Arithmetic on rows of float32, with the same bits as the plain operators.
enum class RowMath : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

// Whether the result is read again soon. If not, it is written with non-temporal stores, so that it
// does not evict other data from the caches. Call settle_rows() before another thread reads it.
enum class Wanted : uint8_t { kSoon, kLater };
void settle_rows();

// to[i] = from[i] op by[i], or from[i] op by.
void row_math(RowMath op, const float* from, const float* by, int64_t count, float* to, Wanted wanted = Wanted::kSoon);
void row_math(RowMath op, const float* from, float by, int64_t count, float* to, Wanted wanted = Wanted::kSoon);

// Converts to float32.
void widen_row(const uint8_t* from, int64_t count, float* to);

}  // namespace stoker
