#pragma once

#include <string_view>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/image/crop.h"

namespace stoker {

// Checks a parameter of two increasing numbers above 0.
Result<DrawRange> range_of(const std::vector<double>& values, std::string_view name);

}  // namespace stoker
