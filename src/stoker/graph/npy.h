#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/core/array.h"

namespace stoker {

// NumPy's file format for one array. Files are written as version 1, little-endian, in C order, with bfloat16 as "<V2"
// as in the ml_dtypes package. Versions 1 to 3, big-endian values and Fortran order can be read. The format has no
// strings of variable length: kBytes fails with Unimplemented.

// Returns the bytes before the values.
Result<std::string> npy_header(const Array& array);

// Writes a temporary file and renames it, so that `path` never contains part of an array.
Result<void> write_npy(const std::string& path, const Array& array);

// Fails with DataLoss if the file is damaged or truncated, and with Unimplemented for types that Stoker does not have.
// The error contains the path.
Result<Array> read_npy(const std::string& path);
// The same for a file in memory. The values are copied.
Result<Array> parse_npy(Bytes file);

// The header of a file, for code that reads only some of the values.
struct NpyHeader {
  DType type{};
  bool swapped = false;  // the values are big-endian
  bool fortran = false;  // the first index varies fastest; false if the rank is below 2
  std::vector<int64_t> dims;
  int64_t values_at = 0;  // offset of the values in the file
};
// Reads `bytes` bytes at `offset`. Callers request only bytes inside the file.
using ReadPart = std::function<Result<void>(size_t offset, char* to, size_t bytes)>;
// Reads the header of a file of `size` bytes. Fails with DataLoss if the file is too short for the values.
Result<NpyHeader> read_npy_header(int64_t size, const ReadPart& read);
// Converts values that were copied from the file: reverses the bytes of big-endian values, and sets bools to 0 or 1.
void convert_npy_values(const NpyHeader& header, Array& values);

}  // namespace stoker
