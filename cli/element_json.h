#pragma once

#include <string>

#include "stoker/core/element.h"
#include "stoker/graph/json.h"

namespace stoker::cli {

// Appends an element as JSON, as `stoker run` prints it: a value, list or
// object. Bytes that are not UTF-8 become {"base64": …}, non-finite numbers
// "nan", "inf" or "-inf". Floats have as many digits as identify them.
void append_json(std::string& to, const Element& element);

// The code and message of an error, and the fields of its place that are set.
Json error_to_json(const Error& error);

}  // namespace stoker::cli
