#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Suggestions for misspelled names in error messages.

// Returns the known name with the smallest edit distance to `name`. Returns an empty view if every known name differs
// in more than a third of the characters of `name`, and in more than two.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);

// Returns "; did you mean 'NAME'?", or nothing if no known name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace stoker
