#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/result.h"

namespace stoker {

// Whether a name, without directories, fits a pattern: `*` any characters, `?`
// one, `[a-z]` one of these, `[!a-z]` or `[^a-z]` none of these, `\c` c itself.
// A character is one of UTF-8, or a byte where the name is not UTF-8. Names
// that begin with a dot are like any other.
bool matches(std::string_view pattern, std::string_view name);

// The files and directories that fit the patterns, by tf.data's rules: a
// pattern holds for one component of a path at a time, `*.txt` gives "./a.txt",
// what two patterns match comes twice, and all is sorted by bytes. Names are
// taken as they are, and links need not lead anywhere.
//
// InvalidArgument when nothing fits any pattern; PermissionDenied for a
// directory that must be listed and may not be.
Result<std::vector<std::string>> list_files(const std::vector<std::string>& patterns);

}  // namespace stoker
