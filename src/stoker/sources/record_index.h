#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/record_index.h"
#include "stoker/core/element.h"
#include "stoker/graph/stage.h"
#include "stoker/io/file_set.h"

namespace stoker {

// The index of one uncompressed TFRecord file, in memory or as a view of a mapped index file.
class FileIndex {
 public:
  // Returns the stored index if it exists and still matches the file.
  static std::optional<FileIndex> kept(const std::string& path);
  // Builds the index by reading the header of each record.
  static Result<FileIndex> made(const std::string& path);
  // Builds the index from the offsets of the records in the first `bytes` bytes of the file.
  static Result<FileIndex> of(const std::string& path, int64_t bytes, const std::vector<int64_t>& places,
                              const std::vector<int64_t>& labels = {});

  const IndexView& view() const { return view_; }
  // Whether the file that the index is a view of was truncated: what was read of
  // the view before is not to be used.
  bool was_cut() const { return mapped_ && mapped_->was_cut(); }
  Error truncated() const { return truncated_error(mapped_->path(), -1); }

  // Store the index next to the data, in the hidden folder .stoker, or in the user's cache folder.
  Result<void> keep_beside(const std::string& path) const;
  Result<void> keep_in_cache(const std::string& path) const;

 private:
  static std::optional<FileIndex> kept_at(const std::string& index_path, const std::string& path, const FileMark& mark);
  Result<void> write(const std::string& index_path) const;

  std::shared_ptr<const void> owner_;
  const MappedFile* mapped_ = nullptr;  // the owner, if it is one
  Bytes bytes_;                         // the owner's
  IndexView view_;
};

// Returns the paths at which the index of a file may be stored, in the order in which they are tried.
std::vector<std::string> index_paths_of(const std::string& path);

// Reads records of several uncompressed TFRecord files by position. Thread-safe. Data that cannot be read counts as one
// record, because a sequential reader returns one error for it.
class RecordIndex {
 public:
  // Returns the number of records. Every call must pass the same files. Indexes the files that are not indexed.
  int64_t records(const std::vector<std::string>& paths);
  // Requires an earlier call of records(). Returns DataLoss if the file has changed since it was indexed.
  Result<Array> read(int64_t record);
  // Returns a name such as "record 7 of a.tfrecord". Indexes files, up to 16 at a time, until the one that has the
  // record is known. Returns no name if there is no such record, or if its file cannot be read. Throws Cancelled if the
  // caller interrupts it.
  RecordName describe_record(const std::vector<std::string>& paths, int64_t record);
  // Adds the index of a file that a sequential reader has read completely.
  void learn(const std::vector<std::string>& paths, size_t file, int64_t bytes, const std::vector<int64_t>& places);

 private:
  // Size in bytes. For smaller files, reading the headers is faster than looking for a stored index.
  static constexpr int64_t kWorthKeeping = 1 << 20;

  struct Known {
    FileIndex index;
    std::optional<Error> error;  // the file cannot be read and counts as one record
    int64_t records() const { return error ? 1 : index.view().records(); }
  };
  // What describe_record() finds in the files that are indexed, or the files to index next.
  struct Found {
    RecordName record;
    std::vector<size_t> unknown;
  };
  Found find(const std::vector<std::string>& paths, int64_t record);
  Known look_at(size_t file);
  // Calls `keep` for each file, from several threads.
  void look_at(const std::vector<size_t>& files, const std::function<void(size_t file, Known)>& keep);
  Result<Array> read(size_t file, int64_t place, int64_t bytes);

  void begin(const std::vector<std::string>& paths);

  std::mutex mutex_;  // guards the members below until `begins_` is complete
  std::optional<FileSet> files_;
  std::vector<std::optional<Known>> known_;
  std::vector<int64_t> begins_;  // first record of each file, and the end; empty until all files are indexed
};

}  // namespace stoker
