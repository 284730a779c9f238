#pragma once

#include "stoker/prepare/pack_input.h"
#include "stoker/prepare/pack_work.h"
#include "stoker/prepare/progress.h"
#include "stoker/runtime/background.h"

namespace stoker::prepare {

// The number of shards of a split. Returns FailedPrecondition if the options require more shards than it has records.
Result<int64_t> shard_count(const PackOptions& options, const Split& split);

// Writes the shards of all splits in their order. While one shard is written to disk, the records of the next one are
// collected. Not thread-safe. All arguments must outlive the writer.
class ShardWriter {
 public:
  ShardWriter(const PackOptions& options, PackWork& work, const PackInput& input, BadFiles& bad,
              const OnProgress& on_progress);

  // Returns when all shards are on disk, in the folder of `work`. Continues after the shards that are already there.
  // After an error, complete shards stay there.
  Result<void> write_all();

  // The shards, and the sums of their counts.
  const PackResult& written() const { return written_; }

 private:
  Result<void> write(const Split& split);
  Result<void> take(const std::string& name, const ShardNotes& notes, int64_t records);
  void add(const std::string& name, const ShardNotes& notes);
  Result<void> write_record(const Split& split, int64_t at, Loader& loader, PartialFile& file, ShardNotes& notes);
  void finish(PartialFile file, ShardNotes notes);

  const PackOptions& options_;
  PackWork& work_;
  const PackInput& input_;
  BadFiles& bad_;
  Reporter progress_;
  PackResult written_;
  Background finishing_;  // the shard before this one; its destructor waits
};

}  // namespace stoker::prepare
