#pragma once

#include <optional>

#include "stoker/core/array.h"
#include "stoker/graph/json.h"

namespace stoker {

struct ReadContext;
struct WriteContext;

// Arrays in JSON: {"const": values, "dtype": …, "shape"?: …} up to 4 KB, and a reference to .npy files for larger ones
// (array_files.h). docs/formats/graph.md describes both forms.

// Fails with InvalidArgument if the array is larger than 4 KB and the context has no folder, and with an I/O error if
// its files cannot be written.
Result<Json> array_to_json(const Array& array, WriteContext& context);

// Reads either form, or values without a dtype. Such values become bool, string, int32 (int64 if one does not fit) or
// float32. Fails if the array does not have `type`.
Result<Array> array_from_json(const Json& json, ReadContext& context, std::optional<DType> type = {});

// Returns only the values: numbers, strings and nested lists of them.
Json values_to_json(const Array& array);

}  // namespace stoker
