#pragma once

#include <string>

#include "stoker/core/element.h"
#include "stoker/graph/json.h"

namespace stoker::cli {

// Appends an element as it prints: a value, list or object; text that is not
// UTF-8 as {"base64": …}; numbers that are none as "nan", "inf", "-inf". Floats
// have as many digits as tell them apart from their neighbours.
void append_json(std::string& to, const Element& element);

// All that an error knows.
Json error_to_json(const Error& error);

}  // namespace stoker::cli
