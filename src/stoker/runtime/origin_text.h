#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/origin.h"

namespace stoker {

// An origin as errors name it and replay reads it: "train:18204@2"; in a child
// "train:3/17", or "train:3/1:17" from its second source; of a joined element
// "a:(3,b:4@1)", where a member without a name is of the source named before it.
// `sources` are the names of the outermost graph, by number.
std::string origin_text(const Origin& origin, const std::vector<std::string>& sources);
Result<Origin> origin_from_text(std::string_view text, const std::vector<std::string>& sources);

// The origin in the outermost graph; of a joined element, that of its first member.
const Origin& outermost(const Origin& origin);

}  // namespace stoker
