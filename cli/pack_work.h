#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/pack.h"

namespace stoker::cli {

// What is told of a shard at the end.
struct ShardNotes {
  int64_t records = 0;
  int64_t bytes = 0;
  int64_t resized = 0;
  int64_t turned = 0;
  std::vector<BadFile> skipped;
};

// The folder in DST where shards are written until all are whole. What a run
// that was stopped has left there is used by the next one of the same input;
// that of another input is removed. A shard counts when its notes are there,
// which are written behind it.
//
// When all are whole, one file in DST (.NAME.packed) takes the place of all notes.
// While it is there, shards are given their places in DST; its removal is the
// last step. A run that finds it, of the same input, has nothing to do but the rest.
class PackWork {
 public:
  static Result<PackWork> open(const std::string& target, const std::string& name, const std::string& input);
  // Whether an earlier run of this input had all shards whole, and was stopped before all had their places.
  static bool is_giving_places(const std::string& target, const std::string& name, const std::string& input);
  PackWork(PackWork&&) = default;
  PackWork& operator=(PackWork&&) = delete;
  // A folder without a whole shard helps nobody and is removed.
  ~PackWork();

  std::optional<ShardNotes> finished(const std::string& shard) const;
  Result<PartialFile> begin(const std::string& shard) const;
  Result<void> finish(PartialFile file, const ShardNotes& notes);
  // All are whole: from now on a run that is stopped can be completed, whatever it has done.
  Result<void> begin_to_keep(const std::vector<std::string>& shards, const std::string& labels);
  // Gives a file of the folder its place in DST, if it is still there.
  Result<void> keep(const std::string& file) const;
  static constexpr const char* kLabels = "labels.txt";
  // Nothing is left to be done. The folder goes first.
  Result<void> remove();

  const std::string& folder() const { return folder_; }
  int64_t whole_shards() const { return whole_; }

 private:
  PackWork(std::string target, const std::string& name, std::string input);

  std::string target_;
  std::string folder_;
  std::string packed_;  // the file that is there while shards are given their places
  std::string input_;
  std::optional<Json> kept_;  // what that file says, where it is there
  int64_t whole_ = 0;
};

// Keeps other processes from packing into the same folder, which is made where it
// is not there. A file system without locks has none to give.
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

}  // namespace stoker::cli
