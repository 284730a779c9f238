#include "cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "stoker/core/hash.h"
#include "stoker/graph/graph.h"

namespace stoker::cli {
namespace {

// Neither a graph nor a state comes near this; /dev/zero does.
constexpr size_t kMostBytes = size_t{256} << 20;
// Small pieces are written together; a large one goes as it is.
constexpr size_t kBufferBytes = size_t{1} << 20, kLargePiece = size_t{16} << 10;
// The disk begins with what is written in steps of this, so that little is left to wait for at the end.
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

Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  char piece[64 << 10];
  while (true) {
    const ssize_t n = ::read(fd, piece, sizeof(piece));
    if (n < 0 && errno == EINTR && !interrupted()) continue;
    if (n < 0) return Error::io("cannot read ", name);
    if (n == 0) return text;
    text.append(piece, static_cast<size_t>(n));
    if (text.size() > kMostBytes) return Error::invalid(name, " is larger than ", kMostBytes, " bytes");
  }
}

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

// A pipe or /dev/null, which are not replaced.
Result<void> write_in_place(const std::string& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return Error::io("cannot write ", path);
  return write_all(file.get(), text, path);
}

bool is_regular(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

// What keeps a file from being a graph, before its text is looked at. Pipes are
// not opened for that: what is in one can be read once.
Result<void> check_graph_file(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return Error::io("cannot open the graph ", path);
  if (S_ISDIR(found.st_mode)) return Error::precondition(path, " is a folder and not a graph file");
  if (!S_ISREG(found.st_mode)) return {};
  if (access(path.c_str(), R_OK) != 0) return Error::io("cannot open the graph ", path);
  if (static_cast<uint64_t>(found.st_size) <= kMostBytes) return {};
  return Error::precondition(path, " has ", bytes_words(static_cast<double>(found.st_size)), ", too much for a graph");
}

// A regular file is read where it lies, with the arrays beside it. Seeds that a
// graph does not have follow from its text: `replay` makes the element again that
// failed in another process.
Result<Dataset> dataset_of(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  STOKER_TRY(std::string text, path == "-" ? read_all(STDIN_FILENO, name) : read_text_file(path));
  set_seed(hash_of(text));
  if (path != "-" && is_regular(path)) return Dataset::load_graph(path);
  Result<Dataset> read = Dataset::from_json(text);
  if (!read) return Error(read.error().code(), name + ": " + read.error().message());
  return read;
}

int refuse(const Error& error) {
  complain(error.message());
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kUnimplemented:
    case Code::kFailedPrecondition: return kWrongUse;
    default: return kBadData;  // what the graph names is missing or damaged
  }
}

}  // namespace

int with_graph(const std::string& path, const std::function<int(const Dataset&)>& body) {
  if (path != "-")
    if (const Result<void> checked = check_graph_file(path); !checked) {
      complain(checked.error().message());
      return kWrongUse;
    }
  const Result<Dataset> dataset = dataset_of(path);
  if (!dataset) return refuse(dataset.error());
  if (const Error* error = dataset->error()) return refuse(*error);
  return body(*dataset);
}

Result<std::string> read_text_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Error::io("cannot open ", path);
  return read_all(file.get(), path);
}

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
      begun_(other.begun_),
      beginning_(std::move(other.beginning_)) {}

PartialFile::~PartialFile() {
  if (beginning_.valid()) beginning_.wait();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

Result<PartialFile> PartialFile::create(std::string path) {
  std::string partial = fmt::format("{}.{}.partial", path, getpid());
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
  if (written_ - begun_ >= kStepBytes) begin_with_what_is_written();
  return {};
}

// On another thread, as the system takes a while to find what has to be done.
void PartialFile::begin_with_what_is_written() {
  if (beginning_.valid() && beginning_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  beginning_ = std::async(std::launch::async, [file = descriptor_, from = begun_, bytes = written_ - begun_] {
    (void)sync_file_range(file, from, bytes, SYNC_FILE_RANGE_WRITE);  // no more than a hint
  });
  begun_ = written_;
}

Result<void> PartialFile::finish() {
  STOKER_TRY(flush_with({}));
  if (beginning_.valid()) beginning_.wait();
  buffer_.shrink_to_fit();  // it may have to wait for many others
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
  const Uninterrupted until_done;
  if (!is_regular(path)) return write_in_place(path, text);
  STOKER_TRY(PartialFile file, PartialFile::create(path));
  STOKER_TRY(file.append(text));
  STOKER_TRY(file.finish());
  return file.keep();
}

}  // namespace stoker::cli
