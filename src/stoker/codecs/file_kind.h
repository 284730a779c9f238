#pragma once

#include <string_view>

#include "stoker/core/dtype.h"
#include "stoker/core/error.h"

namespace stoker {

// What bytes are that are none of the pictures decoded here, as a noun for a
// message: "HEIC", "an HTML page"; empty when it is not known.
std::string_view kind_of(Bytes bytes);

// The error for such bytes: what they are, and what to do where that is known.
Error not_a_picture(Bytes bytes);

}  // namespace stoker
