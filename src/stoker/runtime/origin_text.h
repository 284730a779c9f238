#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/origin.h"

namespace stoker {

// An origin as errors print it and replay reads it: "train:18204@2". In an opened dataset: "train:3/17", or
// "train:3/1:17" for its second source. Of a tuple from `zip`: "a:(3,b:4@1)", where a member without a name has the
// source of the member before it. An error that a stage returns at the end of its input is "train:end@1", or
// "train:3/end" in an opened dataset. `sources` are the names of the outermost graph, by number.
//
// Which rows a batch has, and in which order a shuffle returns them, also depends on the passes with which the epoch
// started. They follow from the number of the epoch, unless an earlier epoch was left before its end. The text then
// ends with them, one for each place in the graph that counts passes: "train:18204@5~3.0". "~3" stands for 3 at every
// place.

// The passes with which an epoch started. Empty: they follow from its number.
using EpochPasses = std::vector<int64_t>;

struct OriginInEpoch {
  Origin origin;
  EpochPasses passes;
};

std::string origin_text(const Origin& origin, const std::vector<std::string>& sources);
// "~3.0", or "" for an empty list.
std::string epoch_text(const EpochPasses& passes);
Result<OriginInEpoch> origin_from_text(std::string_view text, const std::vector<std::string>& sources);

// Returns the origin in the outermost graph; for a tuple from `zip`, that of its first member.
const Origin& outermost(const Origin& origin);

}  // namespace stoker
