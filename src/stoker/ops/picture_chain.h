#pragma once

#include <span>

#include "stoker/graph/op.h"

namespace stoker {

// Decoding and what follows it, as one pass over rows: a window is drawn when
// the header is known, only what it needs is decoded, and rows go through
// resizing, mirroring and arithmetic into the batch while they are in the
// processor's cache. Bits and errors are those of the operations one by one.
//
// The first link decodes; then come windows, a resize, windows of its result,
// then mirroring, casts, and arithmetic with constants, and a normalize with
// which it ends where that makes planes. It ends before the first link that is
// none of these.
Chain picture_chain(std::span<const ChainLink> links);

}  // namespace stoker
