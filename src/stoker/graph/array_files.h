#pragma once

#include <string>

#include "stoker/core/array.h"
#include "stoker/graph/json.h"

namespace stoker {

struct ReadContext;
struct WriteContext;

// Arrays that are too large for the text of a graph. They are stored in the folder of the graph file as NAME.npy, or as
// NAME.data.npy and NAME.offsets.npy for strings, which .npy cannot represent:
//
//   {"array": "NAME.npy", "dtype": …, "shape"?: …, "hash": …}

// Writes the files and returns the reference to them. Fails with an I/O error.
Result<Json> array_to_files(const Array& array, WriteContext& context);

// Reads what array_to_files() wrote. `json` must have the key "array". Fails with DataLoss if the files do not contain
// the array that was saved, and with InvalidArgument if the name leads out of the folder.
Result<Array> array_from_files(const Json& json, const ReadContext& context);

// Returns a hash of the type, the shape and all values, as 16 hexadecimal digits.
std::string fingerprint_of(const Array& array);

}  // namespace stoker
