#pragma once

#include <string>
#include <string_view>

namespace stoker {

// The begin of a text for a message: one line of printable characters, others
// as \xNN.
std::string shown(std::string_view text);

}  // namespace stoker
