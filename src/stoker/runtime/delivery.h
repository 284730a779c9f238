#pragma once

#include "stoker/core/element.h"

namespace stoker {

// Makes every array of a run that is about to leave the engine the receiver's
// own: writing to it changes no source, cache, component or other element.
// Copies only frozen memory and components that overlap; everything else was
// produced for these rows alone and stays where it is. Fails when there is no
// memory for a copy.
Result<void> make_receivers_own(Run& run);

}  // namespace stoker
