#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/core/error.h"

namespace stoker {

// The maximum number of bytes that a reader may accumulate for one record whose length it does not
// know in advance: a line, or a member of a compressed archive. It is the byte budget of the
// process, or unlimited if there is none, and at least 1 MB.
//
// Records in mapped files are not accumulated and have no limit. Thread-safe.
int64_t record_limit();
// Sets the function that returns the budget. Called by the runtime.
void set_record_limit(int64_t (*budget)());

// Returns the error for a record larger than `limit`, which may be smaller than record_limit() if
// the format has a limit of its own. `what` is "line", "record" and so on. The offset is in the
// uncompressed bytes.
Error record_too_large(std::string_view what, const std::string& path, int64_t offset, int64_t limit);

}  // namespace stoker
