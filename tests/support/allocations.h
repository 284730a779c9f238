#pragma once

#include <cstdint>

namespace stoker {

// Returns the number of calls of operator new by this thread so far. Always 0 under
// sanitizers, which replace operator new themselves.
int64_t allocations_so_far();
bool allocations_are_counted();

}  // namespace stoker
