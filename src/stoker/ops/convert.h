#pragma once

#include "stoker/core/array.h"

namespace stoker {

// Values of one type as another, `count` of them; neither is kBytes.
//
// Floats become integers by cutting off the fraction. What does not fit is
// what x86 gives, on every machine: for int32, int64 and uint64 the value with
// only the highest bit set (NaN too); shorter integers take the low bits of
// the int32, uint32 those of the int64. Integers wrap. Not zero is true.
void convert_items(const void* from, DType from_type, void* to, DType to_type, int64_t count);

// The array itself when it has the type already.
Result<Array> converted(const Array& array, DType type);

}  // namespace stoker
