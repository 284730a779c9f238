#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/result.h"

namespace stoker {

// Whether a name without directories matches a pattern. `*` matches any characters, `?` one
// character, `[a-z]` one of these, `[!a-z]` and `[^a-z]` one other than these, and `\c` the
// character c. A character is a UTF-8 sequence, or one byte if the name is not UTF-8. Names that
// start with a dot are not special.
bool matches(std::string_view pattern, std::string_view name);

// Returns the files and directories that match the patterns, by the rules of tf.data: each part of
// a pattern matches one component of a path, `*.txt` returns "./a.txt", a path that two patterns
// match is returned twice, and the result is sorted by bytes. Names need not be
// UTF-8, and symbolic links are returned even if their target does not exist.
//
// Fails with InvalidArgument if nothing matches, and with PermissionDenied if a directory cannot be
// listed. Throws Cancelled if the caller interrupts it (core/interrupt.h).
Result<std::vector<std::string>> list_files(const std::vector<std::string>& patterns);

}  // namespace stoker
