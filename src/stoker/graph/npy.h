#pragma once

#include <string>

#include "stoker/core/array.h"

namespace stoker {

// NumPy's file of one array. Written as version 1, little-endian, in C order;
// bfloat16 as "<V2", as the ml_dtypes package does. Byte strings have no form
// here.

// The bytes before the values.
Result<std::string> npy_header(const Array& array);

// Replaces the file as a whole or not at all.
Result<void> write_npy(const std::string& path, const Array& array);

Result<Array> read_npy(const std::string& path);
// From memory; the values are copied. Both also read versions 2 and 3 and
// big-endian values, and refuse Fortran order beyond one dim.
Result<Array> parse_npy(Bytes file);

}  // namespace stoker
