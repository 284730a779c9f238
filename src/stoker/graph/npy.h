#pragma once

#include <functional>
#include <string>
#include <vector>

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
// From memory; the values are copied. Both also read versions 2 and 3,
// big-endian values and Fortran order.
Result<Array> parse_npy(Bytes file);

// What stands before the values, for whoever reads a part of them.
struct NpyHeader {
  DType type{};
  bool swapped = false;  // big-endian
  bool fortran = false;  // the first index runs fastest, and there is more than one
  std::vector<int64_t> dims;
  int64_t values_at = 0;  // in the file
};
// Gives `bytes` bytes at `offset`; they lie in the file.
using ReadPart = std::function<Result<void>(size_t offset, char* to, size_t bytes)>;
// Of a file of `size` bytes, which must hold all values.
Result<NpyHeader> read_npy_header(int64_t size, const ReadPart& read);
// Makes values as they lie in the file ours: byte order, and bools that are 0 or 1.
void convert_npy_values(const NpyHeader& header, Array& values);

}  // namespace stoker
