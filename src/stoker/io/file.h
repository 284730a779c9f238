#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/buffer.h"
#include "stoker/core/file_mark.h"
#include "stoker/core/result.h"
#include "stoker/io/bus_guard.h"

namespace stoker {

// Identifies a version of a file: it differs after the file was changed or replaced.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t number = 0;  // inode
  int64_t bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

// An open file that is read sequentially. Every error names the path. Opening a directory fails
// with FailedPrecondition. Opening and reading a pipe or another file that waits throws Cancelled if
// the caller interrupts it (core/interrupt.h). Not thread-safe.
class File {
 public:
  // Does not wait for the writer of a pipe; read() does.
  static Result<File> open(std::string path);
  // The same for a file that is read at offsets. Fails with FailedPrecondition for anything that is
  // not a regular file, and does not open it: a writer of a pipe would notice that.
  static Result<File> open_regular(std::string path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // Reads at least one byte; returns 0 at the end of the file. `into` must not be empty.
  Result<size_t> read(std::span<char> into);
  // Continues reading at this byte. Fails for files without offsets, such as pipes.
  Result<void> seek(int64_t offset);

  const std::string& path() const { return path_; }
  // The size when the file was opened. 0 for files without a size, such as pipes and files in
  // /proc.
  int64_t size() const { return size_; }
  // The current identity; all zeros if the system does not provide it.
  FileIdentity identity() const;
  int descriptor() const { return descriptor_; }

 private:
  File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  bool waits_ = false;  // not a regular file, and nothing has been read
};

// Reads a whole file, up to the end at the time when it is reached: a file that grows or shrinks
// meanwhile is not an error. Fails with ResourceExhausted if it has more than `at_most` bytes.
// Throws Cancelled if the caller interrupts the reading of a large file or a pipe.
Result<std::string> read_file(const std::string& path, int64_t at_most = std::numeric_limits<int64_t>::max());

// Identifies a file without reading all of it: its name without the folder, its size, and a hash of
// its first and last 4 KB. A copy has the same fingerprint.
Result<std::string> fingerprint_of(const std::string& path);
// The same for several files, in order: one line of limited length.
std::string fingerprint_of(const std::vector<std::string>& paths);

// A file that is not regular has an empty mark: it is not opened, because a writer of a pipe would
// notice that, and the contents could be read only once.
Result<FileMark> mark_of(const std::string& path);

// Whether the path leads to something else than a regular file or a directory, such as a pipe.
bool is_special_file(const std::string& path);

// A whole file as memory. The bytes are valid for the lifetime of the object. Files that cannot be
// mapped, such as pipes and files in /proc, are read instead, and so are all files if STOKER_MAP=0.
// After the file was truncated, the missing bytes read as zeros: use bytes only if was_cut() is
// false after they were read. Any thread may read the bytes.
class MappedFile final : public Backing {
 public:
  static Result<MappedFile> open(std::string path);
  // Returns nothing if the file would have to be read.
  static std::optional<MappedFile> map(const File& file);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile() override;

  std::string_view bytes() const { return mapping_ ? std::string_view(mapping_, size_) : std::string_view(read_); }
  const std::string& path() const { return path_; }
  // Advice to the system about page caching, which does not affect results: the file will be read
  // at random offsets; these bytes will be read soon; these bytes may be evicted first. Offsets
  // beyond the end are ignored.
  void expect_jumps() const;
  void will_need(int64_t offset, int64_t bytes) const;
  void done_with(int64_t offset, int64_t bytes) const;
  // Whether the file has been truncated since it was mapped, even if the bytes that
  // are gone have not been read.
  bool was_cut() const { return guard_ && (guard_->met_a_hole() || end_bits() != end_bits_); }
  bool intact() const override { return !was_cut(); }
  void prepare_to_read() const override {
    if (guard_) BusGuard::reinstall();
  }

 private:
  explicit MappedFile(std::string path) : path_(std::move(path)) {}
  void advise(int64_t offset, int64_t bytes, int advice) const;
  uint64_t end_bits() const;

  std::string path_;
  const char* mapping_ = nullptr;
  size_t size_ = 0;
  std::unique_ptr<BusGuard> guard_;
  // The last byte that is not zero, and up to seven bytes before it. A cut that
  // changes any byte changes them: they are beyond it, where a mapping has zeros.
  size_t end_begin_ = 0, end_size_ = 0;
  uint64_t end_bits_ = 0;
  std::string read_;  // the contents, if not mapped
};

}  // namespace stoker
