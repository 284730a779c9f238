#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/origin.h"

namespace stoker {

// An origin as errors print it and replay reads it: "train:18204@2". In an opened dataset: "train:3/17", or
// "train:3/1:17" for its second source. Of a tuple from `zip`: "a:(3,b:4@1)", where a member without a name has the
// source of the member before it. `sources` are the names of the outermost graph, by number.
//
// A batch downstream of a repeat may have rows of several passes. Which rows it has depends on the pass with which its
// epoch started. If earlier epochs were left before their end, that pass is part of the text: "train:18204@3+2" is pass
// 5 of an epoch that started with pass 3.

constexpr int64_t kUsualPass = -1;
// The pass with which an epoch starts, for each source; kUsualPass: it follows from the number of the epoch. May be
// empty.
using FirstPasses = std::vector<int64_t>;

struct OriginInEpoch {
  Origin origin;
  FirstPasses first_passes;  // those that the text has; as long as `sources`
};

std::string origin_text(const Origin& origin, const std::vector<std::string>& sources, const FirstPasses& first = {});
Result<OriginInEpoch> origin_from_text(std::string_view text, const std::vector<std::string>& sources);

// Returns the origin in the outermost graph; for a tuple from `zip`, that of its first member.
const Origin& outermost(const Origin& origin);

}  // namespace stoker
