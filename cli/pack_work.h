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
class PackWork {
 public:
  static Result<PackWork> open(const std::string& target, const std::string& name, const std::string& input);
  PackWork(PackWork&&) = default;
  PackWork& operator=(PackWork&&) = delete;
  // A folder without a whole shard helps nobody and is removed.
  ~PackWork();

  std::optional<ShardNotes> finished(const std::string& shard) const;
  Result<PartialFile> begin(const std::string& shard) const;
  Result<void> finish(PartialFile file, const ShardNotes& notes);
  // Gives a shard its place in DST.
  Result<void> keep(const std::string& shard) const;
  // Nothing is left to be done.
  void remove();

  const std::string& folder() const { return folder_; }
  int64_t whole_shards() const { return whole_; }

 private:
  PackWork(std::string target, std::string folder) : target_(std::move(target)), folder_(std::move(folder)) {}

  std::string target_;
  std::string folder_;
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
