#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "stoker/core/result.h"
#include "stoker/runtime/background.h"

// Files that are written completely or not at all.
namespace stoker::prepare {

// Checks before the work starts that its result can be written to `path`. Does not create the file.
Result<void> check_writable(const std::string& path);

// A file that gets its final name when it is complete. Until keep(), it has a temporary name in the same folder, and
// the destructor removes it. Not thread-safe; another thread may take over a file that was moved to it.
class PartialFile {
 public:
  static Result<PartialFile> create(std::string path);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  Result<void> append(std::string_view bytes);
  // Writes everything to disk (fsync) and closes the file. No append() may follow.
  Result<void> finish();
  // Renames the file to its final name, and replaces a file of that name.
  Result<void> keep();

  const std::string& path() const { return path_; }

 private:
  PartialFile(std::string path, std::string partial, int descriptor);
  // Writes the buffer, then the piece.
  Result<void> flush_with(std::string_view piece);
  void start_writeback();

  std::string path_;
  std::string partial_;  // empty: kept, or moved from
  int descriptor_;       // negative: finished
  std::string buffer_;
  off_t written_ = 0, started_ = 0;  // bytes written, and bytes whose writeback was started
  Background starting_;
};

// Replaces a file completely, or leaves it unchanged and returns the error. Writes to pipes and devices in place.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace stoker::prepare
