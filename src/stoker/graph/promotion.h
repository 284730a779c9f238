#pragma once

#include <optional>

#include "stoker/core/array.h"
#include "stoker/graph/op.h"

namespace stoker {

// Returns a float32 that rounds to float16 and bfloat16 as the double itself does. If bits are lost, the last bit is
// set, so that rounding twice does not create a tie.
float narrowed(double value);

// Returns the type in which values of two types are computed, as in NumPy 2: int16 for int8 and uint8, float64 for
// int64 and uint64. bfloat16 follows the rules of float16; the two together give float32. Returns nothing for a string
// and a number.
std::optional<DType> promote(DType a, DType b);

// Returns the type of a plain number (a bool, int64 or float64) without other inputs, as in TensorFlow: bool, int32
// (int64 if it does not fit) or float32.
DType plain_type(const Array& number);

// Returns the type of a plain number next to values of another type, as in NumPy 2: their type, but float64 for 1.5
// next to integers, and int64 for 2 next to bools.
DType plain_type_next_to(const Array& number, DType other);

// Converts a plain number. An integer that does not fit an integer type is an error under kOthers and remains int64
// under kCompared.
Result<Array> plain_as(const Array& number, DType type, Plain rule);

}  // namespace stoker
