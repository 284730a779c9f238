#pragma once

#include <string_view>

#include "stoker/core/spec.h"

namespace stoker {

// Checks that an input is one string. `what` names the input in the error, for example "the file path".
Result<void> check_string(const LeafSpec& input, std::string_view what);
Result<Bytes> string_of(const Array& input, std::string_view what);

}  // namespace stoker
