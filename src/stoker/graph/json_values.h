#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/graph/json.h"

namespace stoker {

// Numbers, strings, types and shapes in JSON. Graph files and checkpoints share these forms.

// "expected an integer, got a string"
Error wrong_kind(std::string_view expected, const Json& got);

// Each returns nothing if the value is not a number. A whole number may be written as 3.0 or 1e6; non-finite numbers
// are "nan", "inf" and "-inf".
std::optional<int64_t> integer_in(const Json& json);
std::optional<double> number_in(const Json& json);
std::optional<double> non_finite_in(std::string_view text);

// A string, or {"base64": …} if it is not UTF-8. text_in() returns nothing if the value is neither, and fails if the
// base64 is invalid.
Json text_to_json(Bytes text);
Result<std::optional<std::string>> text_in(const Json& json);

// The name of a type. The error suggests the nearest name.
Result<DType> dtype_in(const Json& json);

// A list of at most kMaxDims sizes, each at least 0.
Json dims_to_json(Dims dims);
Result<std::vector<int64_t>> dims_in(const Json& json);

}  // namespace stoker
