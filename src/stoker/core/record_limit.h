#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/core/error.h"

namespace stoker {

// The most bytes that a reader may accumulate for one record whose length it
// learns only by reading: a line, a member of a compressed archive. It is the
// byte budget of the process, where there is one, and at least 1 MB.
//
// Records that lie in mapped files are not accumulated and have no limit.
int64_t record_limit();
// Sets where the budget comes from; for the runtime.
void set_record_limit(int64_t (*budget)());

// The error for a record larger than `limit`, which may be a smaller one of the
// format's own: "the line at byte 7 of a.gz has more than …".
// `what` is "line", "record" and the like; the offset is in the uncompressed bytes.
Error record_too_large(std::string_view what, const std::string& path, int64_t offset, int64_t limit);

}  // namespace stoker
