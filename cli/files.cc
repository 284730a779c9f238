#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "stoker/core/hash.h"
#include "stoker/graph/graph.h"

namespace stoker::cli {
namespace {

// Of a graph or state. Stops the reading of /dev/zero.
constexpr size_t kMostBytes = size_t{Dataset::kMostGraphBytes};

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

bool is_regular(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

// Checks that a path can be a graph, without reading it: the contents of a pipe
// can be read only once.
Result<void> check_graph_file(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return Error::io("cannot open the graph ", path);
  if (S_ISDIR(found.st_mode)) return Error::precondition(path, " is a folder, expected a graph file");
  if (!S_ISREG(found.st_mode)) return {};
  if (access(path.c_str(), R_OK) != 0) return Error::io("cannot open the graph ", path);
  if (static_cast<uint64_t>(found.st_size) <= kMostBytes) return {};
  return Error::precondition(path, " has ", bytes_text(static_cast<double>(found.st_size)),
                             ", expected a graph file of at most 256 MB");
}

// A regular file is loaded by its path, because large arrays are stored in files
// next to it. Seeds that the graph does not contain are derived from its text, so
// that `replay` recomputes the element that failed in another process.
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
    default: return kBadData;  // files that the graph names are missing or damaged
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

}  // namespace stoker::cli
