#pragma once

#include "stoker/core/array.h"

namespace stoker {

// The array of an idx file, as MNIST comes: uint8, int8, int16, int32, float32
// or float64 of any shape. `whole` is the file, uncompressed; its size must be
// exactly what its header says.
Result<Array> parse_idx(Bytes whole);

}  // namespace stoker
