#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Formats the first 40 bytes of a text for a message: one line of printable characters, with other
// bytes as \xNN.
std::string shown(std::string_view text);

}  // namespace stoker
