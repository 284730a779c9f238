#include "stoker/prepare/pack_shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/api/loader.h"
#include "stoker/core/interrupt.h"
#include "stoker/transforms/skip.h"

namespace stoker::prepare {
namespace {

constexpr int64_t kShardBytes = int64_t{128} << 20;

int64_t records_in(const PackInput& input) {
  int64_t records = 0;
  for (const Split& split : input.splits) records += split.count;
  return records;
}

}  // namespace

Result<int64_t> shard_count(const PackOptions& options, const Split& split) {
  if (!options.shards) return std::max<int64_t>(1, std::min({split.bytes / kShardBytes, split.count, kMostShards}));
  if (*options.shards <= split.count) return *options.shards;
  return Error::precondition(option_name(options.option_names, "shards"), " is ", *options.shards, ", and '",
                             split.name, "' has ", split.count, split.count == 1 ? " record" : " records",
                             "; use at most ", split.count);
}

ShardWriter::ShardWriter(const PackOptions& options, PackWork& work, const PackInput& input, BadFiles& bad,
                         const OnProgress& on_progress)
    : options_(options),
      work_(work),
      input_(input),
      bad_(bad),
      progress_(
          on_progress,
          {.phase = Phase::kWrite, .unit = Unit::kImages, .total = records_in(input), .item_unit = Unit::kImages}) {}

Result<void> ShardWriter::write_all() {
  Result<void> done;
  for (const Split& split : input_.splits)
    if (done) done = write(split);
  Result<void> on_disk = finishing_.wait();
  if (!done) return done;
  progress_.finish();
  return on_disk;
}

Result<void> ShardWriter::write(const Split& split) {
  STOKER_TRY(const int64_t shards, shard_count(options_, split));
  const auto name_of = [&](int64_t shard) {
    return fmt::format("{}-{:05}-of-{:05}.tfrecord", split.name, shard, shards);
  };
  const auto end_of = [&](int64_t shard) { return split.count * (shard + 1) / shards; };
  int64_t shard = 0, at = 0;
  for (; shard < shards; at = end_of(shard++)) {
    const std::optional<ShardNotes> before = work_.finished(name_of(shard));
    if (!before) break;
    STOKER_TRY(take(name_of(shard), *before, end_of(shard) - at));
  }
  if (shard == shards) return {};
  Loader loader(split.records.skip({.count = at}), {.interrupted = &is_interrupted});
  for (; shard < shards; ++shard) {
    STOKER_TRY(PartialFile file, work_.begin(name_of(shard)));
    ShardNotes notes;
    const size_t bad_before = bad_.all().size();
    for (; at < end_of(shard); ++at) STOKER_TRY(write_record(split, at, loader, file, notes));
    notes.skipped.assign(bad_.all().begin() + static_cast<std::ptrdiff_t>(bad_before), bad_.all().end());
    STOKER_TRY(finishing_.wait());
    add(name_of(shard), notes);
    finish(std::move(file), std::move(notes));
  }
  return {};
}

// Adds a shard that an earlier run has written.
Result<void> ShardWriter::take(const std::string& name, const ShardNotes& notes, int64_t records) {
  for (const SkippedFile& file : notes.skipped) STOKER_TRY(bad_.add(file.path, Error::corrupt(file.error)));
  progress_.advance(records, 0);
  ++written_.continued;
  add(name, notes);
  return {};
}

void ShardWriter::add(const std::string& name, const ShardNotes& notes) {
  written_.shards.push_back(options_.destination + "/" + name);
  written_.records += notes.records;
  written_.bytes += notes.bytes;
  written_.resized += notes.resized;
  written_.turned += notes.turned;
}

Result<void> ShardWriter::write_record(const Split& split, int64_t at, Loader& loader, PartialFile& file,
                                       ShardNotes& notes) {
  const Result<std::optional<Element>> next = loader.next();
  if (is_interrupted()) return Error::cancelled();
  if (!next) {
    progress_.advance(1, 0);
    return bad_.add(split.path_of(at), next.error());
  }
  const Element& record = *next.value();
  const auto how = record[3].scalar<int64_t>();
  const int64_t bytes = record.byte_size() - record[3].byte_size();
  ++notes.records;
  notes.bytes += bytes;
  notes.resized += (how & kResized) != 0 ? 1 : 0;
  notes.turned += (how & kTurned) != 0 ? 1 : 0;
  progress_.advance(1, bytes);
  for (size_t piece = 0; piece < 3; ++piece) STOKER_TRY(file.append(record[piece].bytes()));
  return {};
}

// Runs fsync on another thread while the next shard is written.
void ShardWriter::finish(PartialFile file, ShardNotes notes) {
  const auto shard = std::make_shared<PartialFile>(std::move(file));
  finishing_ = Background([this, shard, notes = std::move(notes)] { return work_.finish(std::move(*shard), notes); });
}

}  // namespace stoker::prepare
