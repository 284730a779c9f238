#pragma once

#include <optional>

#include "stoker/core/array.h"
#include "stoker/graph/op.h"

namespace stoker {

// The float32 from which float16 and bfloat16 round as from the double itself:
// where bits are lost the last one is set, so that no tie is made.
float narrowed(double value);

// The type that values of two types are computed in, as NumPy 2 promotes:
// int8 and uint8 give int16, int64 and uint64 float64. bfloat16 follows the
// rules of float16 and gives float32 with it. Nothing for numbers and strings.
std::optional<DType> promote(DType a, DType b);

// The type of a plain number (a bool, int64 or float64) that stands alone:
// bool, int32 (int64 where it does not fit) or float32, as in TensorFlow.
DType plain_type(const Array& number);

// The type it takes beside values of another type, as in NumPy 2: theirs, or
// float64 for 1.5 beside integers, or int64 for 2 beside bools.
DType plain_type_beside(const Array& number, DType other);

// The number as a type; an integer that does not fit an integer type is an
// error under kOthers and becomes int64 under kCompared.
Result<Array> plain_as(const Array& number, DType type, Plain rule);

}  // namespace stoker
