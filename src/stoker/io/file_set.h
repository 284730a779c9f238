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

// Several files, read at any place by any thread. The ones opened last stay open: at
// most 64 of a set, and at most a quarter of what the process may have open.
class FileSet {
 public:
  explicit FileSet(std::vector<std::string> paths);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  size_t size() const { return paths_.size(); }
  const std::string& path(size_t file) const { return paths_[file]; }

  // The size when the file was opened. Fails with FailedPrecondition if the file cannot be read at
  // an offset, such as a pipe.
  Result<int64_t> bytes_of(size_t file);
  // Fills `into`. Fails with DataLoss if the file ends before that.
  Result<void> read(size_t file, int64_t offset, std::span<char> into);
  // The same as a byte string that records its path and offset.
  Result<Array> read(size_t file, int64_t offset, int64_t bytes);

  // Closes the file of some set in the process that has been open for longest and is
  // not being read; false where there is none. For callers that the system refuses
  // another descriptor.
  static bool close_idle_file();

 private:
  Result<std::shared_ptr<File>> open(size_t file);
  std::shared_ptr<File> take_idle();

  const std::vector<std::string> paths_;

  Mutex mutex_;
  std::vector<std::shared_ptr<File>> open_ STOKER_GUARDED_BY(mutex_);
  std::list<size_t> order_ STOKER_GUARDED_BY(mutex_);  // the open files, oldest first
};

}  // namespace stoker
