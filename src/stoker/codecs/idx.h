#pragma once

#include "stoker/core/array.h"

namespace stoker {

// Parses an idx file, the format of MNIST: uint8, int8, int16, int32, float32 or float64 of any
// shape. `whole` is the uncompressed file; its size must match its header exactly. Fails with
// InvalidArgument if it is not an idx file, and with DataLoss if its size is wrong.
Result<Array> parse_idx(Bytes whole);

}  // namespace stoker
