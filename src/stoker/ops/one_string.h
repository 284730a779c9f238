#pragma once

#include <string_view>

#include "stoker/core/spec.h"

namespace stoker {

// Whether an operation that takes one string can take this; `what` it stands
// for goes into the error: "a file's path".
Result<void> check_string(const LeafSpec& input, std::string_view what);
Result<Bytes> string_of(const Array& input, std::string_view what);

}  // namespace stoker
