#pragma once

#include <string>

namespace stoker {

// Returns the bytes of a file in tests/fixtures: fixture("image_formats/still.webp").
std::string fixture(const std::string& path);

}  // namespace stoker
