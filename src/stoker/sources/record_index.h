#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/record_index.h"
#include "stoker/core/element.h"
#include "stoker/io/file_set.h"

namespace stoker {

// The index of one plain TFRecord file, in memory or as a view of where it is kept.
class FileIndex {
 public:
  // What is kept of the file, where that still fits it.
  static std::optional<FileIndex> kept(const std::string& path);
  // By hopping over the headers.
  static Result<FileIndex> made(const std::string& path);
  // From where records were found to begin in so many bytes of it.
  static Result<FileIndex> of(const std::string& path, int64_t bytes, const std::vector<int64_t>& places,
                              const std::vector<int64_t>& labels = {});

  const IndexView& view() const { return view_; }

  // Beside the data, in the hidden folder .stoker, or in the user's cache folder.
  Result<void> keep_beside(const std::string& path) const;
  Result<void> keep_in_cache(const std::string& path) const;

 private:
  static std::optional<FileIndex> kept_at(const std::string& index_path, const std::string& path, const FileMark& mark);
  Result<void> write(const std::string& index_path) const;

  std::shared_ptr<const void> owner_;
  Bytes bytes_;  // the owner's
  IndexView view_;
};

// Where the index of a file is looked for, in this order.
std::vector<std::string> index_paths_of(const std::string& path);

// The records of several plain TFRecord files by position. What cannot be read is
// one record, as it is one error of a reader that goes through the files.
class RecordIndex {
 public:
  // Always of the same files. Looks at those that are not known yet.
  int64_t records(const std::vector<std::string>& paths);
  // After records(). A file that is no longer the one that was indexed is an error.
  Result<Array> read(int64_t record);
  // "record 7 of a.tfrecord", for errors: looks at no file behind the first that
  // is not known yet, and is empty where that is not enough.
  std::string words(const std::vector<std::string>& paths, int64_t record);
  // What a reader has found that went through all the bytes of a file.
  void learn(const std::vector<std::string>& paths, size_t file, int64_t bytes, const std::vector<int64_t>& places);

 private:
  // Below this, hopping is done sooner than looking for what is kept.
  static constexpr int64_t kWorthKeeping = 1 << 20;

  struct Known {
    FileIndex index;
    std::optional<Error> error;  // the file cannot be read: a single record
    int64_t records() const { return error ? 1 : index.view().records(); }
  };
  Known look_at(size_t file);
  void look_at_unknown();
  Result<Array> read(size_t file, int64_t place, int64_t bytes);

  void begin(const std::vector<std::string>& paths);

  std::mutex mutex_;  // guards what follows, until `begins_` is there
  std::optional<FileSet> files_;
  std::vector<std::optional<Known>> known_;
  std::vector<int64_t> begins_;  // of each file, and the end; empty until all are known
};

}  // namespace stoker
