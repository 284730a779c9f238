#pragma once

#include <cstdint>
#include <optional>

namespace stoker {

// Returns the number of calls of operator new by this thread so far. Always 0 under
// sanitizers, which replace operator new themselves.
int64_t allocations_so_far();
bool allocations_are_counted();

// Returns the bytes that malloc and operator new provided to the process and that were not freed. nullopt under
// sanitizers, and with C libraries that do not count them.
std::optional<int64_t> bytes_in_use();

// Counts the bytes that this thread has from operator new, beginning with 0, and returns their maximum since then.
void reset_most_bytes();
int64_t most_bytes();

}  // namespace stoker
