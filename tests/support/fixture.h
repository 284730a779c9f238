#pragma once

#include <string>

namespace stoker {

// The bytes of a file of tests/fixtures: fixture("pictures/still.webp").
std::string fixture(const std::string& path);

}  // namespace stoker
