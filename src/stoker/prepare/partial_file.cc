#include "stoker/prepare/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace stoker::prepare {
namespace {

// Small pieces are collected in a buffer; large ones are written directly.
constexpr size_t kBufferBytes = size_t{1} << 20, kLargePiece = size_t{16} << 10;
// Writeback is requested in steps of this size, so that the final fsync has little left to write.
constexpr off_t kStepBytes = 8 << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::io("cannot write ", path);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<void> write_both(int fd, std::string_view first, std::string_view second, const std::string& path) {
  const iovec both[] = {{const_cast<char*>(first.data()), first.size()},
                        {const_cast<char*>(second.data()), second.size()}};
  const ssize_t n = ::writev(fd, both, 2);
  if (n < 0 && errno != EINTR) return Error::io("cannot write ", path);
  const size_t done = n < 0 ? 0 : static_cast<size_t>(n);
  const size_t of_first = std::min(done, first.size());
  STOKER_TRY(write_all(fd, first.substr(of_first), path));
  return write_all(fd, second.substr(done - of_first), path);
}

// For pipes and devices such as /dev/null, which must not be replaced.
Result<void> write_in_place(const std::string& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return Error::io("cannot write ", path);
  return write_all(file.get(), text, path);
}

bool is_regular(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

}  // namespace

Result<void> check_writable(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return Error::precondition("cannot write ", path, ": it is a folder");
    if (!S_ISREG(found.st_mode)) return {};
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) return Error::io("cannot write ", path);
  return {};
}

PartialFile::PartialFile(std::string path, std::string partial, int descriptor)
    : path_(std::move(path)), partial_(std::move(partial)), descriptor_(descriptor) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      written_(other.written_),
      started_(other.started_),
      starting_(std::move(other.starting_)) {}

PartialFile::~PartialFile() {
  (void)starting_.wait();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

Result<PartialFile> PartialFile::create(std::string path) {
  static std::atomic<int64_t> created{0};  // two threads may write the same file
  std::string partial = fmt::format("{}.{}-{}.partial", path, getpid(), created++);
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0666);
  if (descriptor < 0) return Error::io("cannot write ", path);
  return PartialFile(std::move(path), std::move(partial), descriptor);
}

Result<void> PartialFile::append(std::string_view bytes) {
  if (bytes.size() >= kLargePiece) return flush_with(bytes);
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes ? Result<void>() : flush_with({});
}

Result<void> PartialFile::flush_with(std::string_view piece) {
  STOKER_TRY(write_both(descriptor_, buffer_, piece, path_));
  written_ += static_cast<off_t>(buffer_.size() + piece.size());
  buffer_.clear();
  if (written_ - started_ >= kStepBytes) start_writeback();
  return {};
}

// On another thread, because sync_file_range takes a while to find the dirty pages.
void PartialFile::start_writeback() {
  if (starting_.is_running()) return;
  starting_ = Background([file = descriptor_, from = started_, bytes = written_ - started_]() -> Result<void> {
    (void)sync_file_range(file, from, bytes, SYNC_FILE_RANGE_WRITE);  // only a hint: errors do not matter
    return {};
  });
  started_ = written_;
}

Result<void> PartialFile::finish() {
  STOKER_TRY(flush_with({}));
  (void)starting_.wait();
  buffer_.shrink_to_fit();  // the file may stay unnamed until many others are complete
  if (fsync(descriptor_) != 0) return Error::io("cannot write ", path_);
  if (::close(std::exchange(descriptor_, -1)) != 0) return Error::io("cannot write ", path_);
  return {};
}

Result<void> PartialFile::keep() {
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) return Error::io("cannot write ", path_);
  partial_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  if (!is_regular(path)) return write_in_place(path, text);
  STOKER_TRY(PartialFile file, PartialFile::create(path));
  STOKER_TRY(file.append(text));
  STOKER_TRY(file.finish());
  return file.keep();
}

}  // namespace stoker::prepare
