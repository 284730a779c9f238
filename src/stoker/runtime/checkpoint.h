#pragma once

#include "stoker/runtime/plan.h"

namespace stoker {

// Takes the next pass of every node that counts them, for a new iterator.
// What lies below a cache takes the pass that the cache was first filled in.
Passes take_passes(const Plan& plan);

// The passes that take_passes would take, without taking them; and takes them
// if they are still the next ones.
Passes next_passes(const Plan& plan);
bool take_if_next(const Plan& plan, const Passes& passes);

// The consumer has begun pass `pass` of a source: the iterators after this
// one start behind it.
void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass);

// Format, graph, files, seeds and passes: all of a checkpoint but the cut.
Json checkpoint_head(const Plan& plan, const Passes& passes);

// Checks that a checkpoint belongs to this graph and these files, sets seeds
// and passes of the nodes, and gives the passes to start from.
Result<Passes> restore_head(const Plan& plan, const Json& checkpoint);

}  // namespace stoker
