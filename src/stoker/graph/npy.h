#pragma once

#include <string>

#include "stoker/core/array.h"

namespace stoker {

// NumPy's file of one array. Written as version 1 (2 where the header is
// longer than 64 KB), little-endian, in C order; bfloat16 as "<V2", as the
// ml_dtypes package does. Byte strings have no form here.

// The bytes before the values.
Result<std::string> npy_header(const Array& array);

// Replaces the file as a whole or not at all.
Result<void> write_npy(const std::string& path, const Array& array);

Result<Array> read_npy(const std::string& path);
// From memory; the values are copied. Also reads big-endian files; refuses
// Fortran order beyond one dim.
Result<Array> parse_npy(Bytes file);

}  // namespace stoker
