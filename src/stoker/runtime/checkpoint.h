#pragma once

#include "stoker/runtime/plan.h"

namespace stoker {

// Passes are counted for each dataset, in the state of its last node: datasets
// that share nodes do not disturb one another.

// Takes the next pass of every node that counts them, for a new iterator. Nodes
// below a cache stay in pass 0, whichever iterator fills it.
Passes take_passes(const Plan& plan);

// The passes that take_passes would take, without taking them; and takes them
// if they are still the next ones.
Passes next_passes(const Plan& plan);
bool take_if_next(const Plan& plan, const Passes& passes);

// The consumer has begun pass `pass` of a source: the iterators after this
// one start behind it.
void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass);

// Lets the next iterator be the epoch that has this pass of a source, if every
// epoch before it was run to its end.
void start_with(const Plan& plan, int32_t source, int64_t pass);

// Format, graph, files, seeds and passes: all of a checkpoint but the cut.
Json checkpoint_head(const Plan& plan, const Passes& passes);

// What a checkpoint restores besides the cut.
struct CheckpointHead {
  Seeds seeds;
  Passes passes;  // to start from
  std::map<const NodeState*, int64_t> counters;
};
// Looks at the files that a checkpoint names, the first time it is called for the
// plan. What saves or compares a checkpoint calls it, too.
void read_fingerprint(const Plan& plan);
// For another plan of the same graph, which looks at them no more.
void share_fingerprint(const Plan& known, const Plan& other);
// Checks that a checkpoint belongs to this graph and these files; changes nothing.
Result<CheckpointHead> read_head(const Plan& plan, const Json& checkpoint);
// Empties the caches if the seeds are others than now: what they hold was drawn
// with those.
void drop_other_caches(const Plan& plan, const CheckpointHead& head);
// Sets the seeds of the nodes and the counters of the dataset.
void adopt_head(const Plan& plan, const CheckpointHead& head);

// The text of a checkpoint has a hash of its content, and one that was changed
// or cut short is refused.
std::string checkpoint_text(Json checkpoint);
Result<Json> read_checkpoint(std::string_view text);

}  // namespace stoker
