#pragma once

#include <span>

#include "stoker/graph/op.h"

namespace stoker {

// Fuses decoding and the operations after it into one pass over rows. The window is drawn when the header is known,
// only the pixels that it needs are decoded, and rows pass through resizing, flipping and arithmetic into the batch
// while they are in the processor's cache. The bits and the errors are those of the separate operations
// (docs/design/images.md).
//
// The first operation contributes a DecodeStep (image_steps.h). After it, a chain consists of crops, a resize, crops of
// its result, horizontal flips, row steps, and finally planes, in this order; flips and row steps may alternate. The
// chain ends at the first operation that contributes none of these.
Chain image_chain(std::span<const ChainLink> links);

}  // namespace stoker
