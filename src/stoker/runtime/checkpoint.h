#pragma once

#include "stoker/runtime/origin_text.h"
#include "stoker/runtime/plan.h"

namespace stoker {

// The counting node of a dataset (counting_node in plan.h) counts its passes. Datasets that are built on one shuffle
// share it and get successive passes. Datasets that share only a source do not affect each other.

// Takes the next pass of every counted node, for a new iterator. Nodes upstream of a cache stay in pass 0, regardless
// of the iterator that fills it.
Passes take_passes(const Plan& plan);

// Returns the passes that take_passes would take, without taking them. The second function takes them if they are still
// the next ones.
Passes next_passes(const Plan& plan);
bool take_if_next(const Plan& plan, const Passes& passes);

// Records that the consumer has started this pass of a source. Later iterators start after it.
void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass);

// Returns the epoch that has this pass of a source, if every epoch starts as many passes as its repeats allow.
int64_t epoch_of_pass(const Plan& plan, int32_t source, int64_t pass);
// Makes this epoch the one of the next iterator, under the same condition.
void start_with_epoch(const Plan& plan, int64_t epoch);
// The passes with which an iterator starts, for error messages. Empty if they are those of an epoch under the same
// condition.
EpochPasses unusual_passes(const Plan& plan, const Passes& passes);
// Makes the next iterator of a dataset with one more stage, the last, start with these passes. Fails with
// InvalidArgument if they belong to another graph.
Result<void> start_with_passes(const Plan& plan, const EpochPasses& passes);

// The format, graph, files, seeds and passes: everything in a checkpoint except the cut.
Json checkpoint_head(const Plan& plan, const Passes& passes);

// What a checkpoint restores, except the cut.
struct CheckpointHead {
  Seeds seeds;
  Passes passes;  // of the restored iterator
  std::map<const NodeState*, int64_t> counters;
};
// Computes the fingerprint of the plan's files, at the first call for the plan. Saving and comparing a checkpoint do
// this, too.
void read_fingerprint(const Plan& plan);
// Copies the fingerprint to another plan of the same graph.
void share_fingerprint(const Plan& known, const Plan& other);
// Checks that a checkpoint belongs to this graph and these files. Changes nothing.
Result<CheckpointHead> read_head(const Plan& plan, const Json& checkpoint);
// Sets the seeds of the nodes and the counters of the dataset.
void adopt_head(const Plan& plan, const CheckpointHead& head);

// The text of a checkpoint contains a hash of its content. A checkpoint that was changed or truncated is rejected.
std::string checkpoint_text(Json checkpoint);
Result<Json> read_checkpoint(std::string_view text);

}  // namespace stoker
