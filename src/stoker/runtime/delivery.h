#pragma once

#include "stoker/core/element.h"

namespace stoker {

// Gives every array of a run that leaves the engine to its receiver: writing to it then changes no source, cache,
// component or other element. Copies only frozen memory and components that overlap. All other memory was produced for
// these rows alone and is delivered in place. Fails if there is not enough memory for a copy.
Result<void> make_receivers_own(Run& run);

// Call this before reading rows that were stored for some time (Backing::prepare_to_read).
void prepare_to_read(const Run& run);

}  // namespace stoker
