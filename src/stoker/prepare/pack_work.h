#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/graph/json.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/prepare/partial_file.h"

// The files of a call of pack() in progress, from which a later call continues.
namespace stoker::prepare {

// The counts of one shard for the summary.
struct ShardNotes {
  int64_t records = 0;
  int64_t bytes = 0;
  int64_t resized = 0;
  int64_t turned = 0;
  std::vector<SkippedFile> skipped;
};

// The folder in DST to which shards are written until all are complete. A later
// run of the same input uses the shards of a run that was stopped; a run of
// another input removes them. A shard is complete when its notes exist, which are
// written after it.
//
// When all shards are complete, one file in DST (.NAME.packed) replaces all notes.
// While it exists, shards are moved to DST; removing it is the last step. A run of
// the same input that finds this file only completes the moves.
class PackWork {
 public:
  static Result<PackWork> open(const std::string& target, const std::string& name, const std::string& input);
  // True if an earlier run of this input completed all shards, and was stopped
  // before all were moved to DST.
  static bool is_giving_places(const std::string& target, const std::string& name, const std::string& input);
  PackWork(PackWork&&) = default;
  PackWork& operator=(PackWork&&) = delete;
  // Removes the folder if it has no complete shard.
  ~PackWork();

  std::optional<ShardNotes> finished(const std::string& shard) const;
  Result<PartialFile> begin(const std::string& shard) const;
  Result<void> finish(PartialFile file, const ShardNotes& notes);
  // Writes .NAME.packed. All shards must be complete. After this call, a later run
  // can complete this one, wherever it is stopped.
  Result<void> begin_to_keep(const std::vector<std::string>& shards, const std::string& labels);
  // Moves a file of the folder to DST, unless an earlier run has moved it.
  Result<void> keep(const std::string& file) const;
  static constexpr const char* kLabels = "labels.txt";
  // Removes the folder, then .NAME.packed.
  Result<void> remove();

  const std::string& folder() const { return folder_; }
  int64_t whole_shards() const { return whole_; }

 private:
  PackWork(std::string target, const std::string& name, std::string input);

  std::string target_;
  std::string folder_;
  std::string packed_;  // path of .NAME.packed
  std::string input_;
  std::optional<Json> kept_;  // the contents of .NAME.packed, if it exists
  int64_t whole_ = 0;
};

// Prevents other processes from packing into the same folder. take() creates the
// folder if necessary, and returns FailedPrecondition if another process holds
// the lock. On a file system without locks, it always succeeds.
class PackLock {
 public:
  static Result<PackLock> take(const std::string& folder);
  PackLock(PackLock&& other) noexcept;
  PackLock& operator=(PackLock&&) = delete;
  ~PackLock();

 private:
  explicit PackLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  // of the folder; negative: moved from
};

}  // namespace stoker::prepare
