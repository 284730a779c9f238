#pragma once

#include <string_view>

#include "stoker/image/resize.h"

namespace stoker {

// How to resize, in the words of the parameters `method`, `antialias` and `like`.
Result<ResizeHow> resize_how(std::string_view method, bool antialias, std::string_view like);

}  // namespace stoker
