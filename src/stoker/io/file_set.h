#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/mutex.h"
#include "stoker/io/file.h"

namespace stoker {

// Several files, read at any place by any thread. The ones used last stay open.
class FileSet {
 public:
  explicit FileSet(std::vector<std::string> paths) : paths_(std::move(paths)), open_(paths_.size()) {}
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  size_t size() const { return paths_.size(); }
  const std::string& path(size_t file) const { return paths_[file]; }

  // When it was opened. What has no size of its own (a pipe) cannot be read by
  // place: FailedPrecondition.
  Result<int64_t> bytes_of(size_t file);
  // Exactly so many bytes; an end before them is DataLoss.
  Result<void> read(size_t file, int64_t offset, std::span<char> into);
  // The same as a byte string that knows its place.
  Result<Array> read(size_t file, int64_t offset, int64_t bytes);

 private:
  // Far below the limit of any process, and more than are read at one time.
  static constexpr size_t kMostOpen = 64;

  Result<std::shared_ptr<File>> open(size_t file);

  const std::vector<std::string> paths_;

  Mutex mutex_;
  std::vector<std::shared_ptr<File>> open_ STOKER_GUARDED_BY(mutex_);
  std::list<size_t> order_ STOKER_GUARDED_BY(mutex_);  // of the open ones, oldest first
};

}  // namespace stoker
