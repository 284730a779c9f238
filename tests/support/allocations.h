#pragma once

#include <cstdint>

namespace stoker {

// Calls of operator new by this thread so far. Always 0 under sanitizers, which
// have their own.
int64_t allocations_so_far();
bool allocations_are_counted();

}  // namespace stoker
