#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/file_mark.h"
#include "stoker/core/result.h"
#include "stoker/io/bus_guard.h"

namespace stoker {

// What is the same for a file that nobody has changed or replaced.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t number = 0;  // in it
  int64_t bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

// An open file, read from front to back. Every error names the path; a
// directory is FailedPrecondition.
class File {
 public:
  static Result<File> open(std::string path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // Reads at least one byte unless the file has ended: 0. `into` is not empty.
  Result<size_t> read(std::span<char> into);
  // Reads go on at this byte. What cannot be read by place (pipes) is an error.
  Result<void> seek(int64_t offset);

  const std::string& path() const { return path_; }
  // When it was opened. 0 for what has no size of its own: pipes, /proc.
  int64_t size() const { return size_; }
  // Now; all zero where the system does not say.
  FileIdentity identity() const;
  int descriptor() const { return descriptor_; }

 private:
  File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

// The whole file, to where it ends when the end is reached: one that grows or
// shrinks meanwhile is no error. More than `at_most` bytes is ResourceExhausted.
Result<std::string> read_file(const std::string& path, int64_t at_most = std::numeric_limits<int64_t>::max());

// What tells a file from another without reading all of it: its name without
// the folder, its size, a hash of its first and last 4 KB. A copy is the same.
Result<std::string> fingerprint_of(const std::string& path);
// Likewise of several, in order: one line however many they are.
std::string fingerprint_of(const std::vector<std::string>& paths);

Result<FileMark> mark_of(const std::string& path);

// A whole file as memory, for as long as the object lives. What cannot be
// mapped (pipes, /proc) is read instead, and so is everything with STOKER_MAP=0.
// Bytes beyond a later cut of the file read as zeros.
class MappedFile {
 public:
  static Result<MappedFile> open(std::string path);
  // Nothing where it would have to be read.
  static std::optional<MappedFile> map(const File& file);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return mapping_ ? std::string_view(mapping_, size_) : std::string_view(read_); }
  const std::string& path() const { return path_; }
  // Words to the system, of which nothing depends. Reading will jump about: what
  // lies around a byte need not be read ahead; these bytes are wanted soon; these
  // may go first where memory is short. Places beyond the end are passed over.
  void expect_jumps() const;
  void will_need(int64_t offset, int64_t bytes) const;
  void done_with(int64_t offset, int64_t bytes) const;
  // Whether bytes were asked for that a later cut took away.
  bool was_cut() const { return guard_ && guard_->met_a_hole(); }

 private:
  explicit MappedFile(std::string path) : path_(std::move(path)) {}
  void advise(int64_t offset, int64_t bytes, int advice) const;

  std::string path_;
  const char* mapping_ = nullptr;
  size_t size_ = 0;
  std::unique_ptr<BusGuard> guard_;
  std::string read_;  // when not mapped
};

}  // namespace stoker
