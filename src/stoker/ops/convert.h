#pragma once

#include "stoker/core/array.h"

namespace stoker {

// Converts `count` values of one type to another. Neither type is kBytes.
//
// Floats that become integers are truncated. A value that does not fit (or NaN) gives the result of x86, on every
// machine: for int32, int64 and uint64, only the highest bit is set; shorter integers take the low bits of the int32,
// and uint32 takes those of the int64. Integers wrap around. As a bool, every value but 0 is true.
void convert_items(const void* from, DType from_type, void* to, DType to_type, int64_t count);

// Returns the array itself if it already has the type.
Result<Array> converted(const Array& array, DType type);

}  // namespace stoker
