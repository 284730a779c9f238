#pragma once

#include <string_view>

#include "stoker/image/resize.h"

namespace stoker {

// Converts the parameters `method`, `antialias` and `like`. Returns InvalidArgument if a value is unknown.
Result<ResizeHow> resize_how(std::string_view method, bool antialias, std::string_view like);

}  // namespace stoker
