#pragma once

#include <string_view>

#include "stoker/core/dtype.h"
#include "stoker/core/error.h"

namespace stoker {

// What kind of file the bytes are, if they are not one of the supported image formats, as a noun
// for a message: "HEIC", "an HTML page". Empty if unknown.
std::string_view kind_of(Bytes bytes);

// The error for such bytes: what they are and, if known, what to do.
Error not_a_image(Bytes bytes);

}  // namespace stoker
