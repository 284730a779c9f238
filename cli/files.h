#pragma once

#include <sys/types.h>

#include <functional>
#include <future>
#include <string>

#include "stoker/api/dataset.h"

// The files a command is given: graphs, and states of a run.
namespace stoker::cli {

// Calls `body` with the data set of a graph file, "-" being standard input, and
// returns what it returns. A graph that cannot be used is told, and is
// kWrongUse; one whose own files are missing or damaged is kBadData.
int with_graph(const std::string& path, const std::function<int(const Dataset&)>& body);

Result<std::string> read_text_file(const std::string& path);

// What would keep a file from being written, before the work that is to go there.
Result<void> check_writable(const std::string& path);
// A file that gets its name when it is whole. Until then it has another one
// beside it, and is removed with the object.
class PartialFile {
 public:
  static Result<PartialFile> create(std::string path);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  Result<void> append(std::string_view bytes);
  // Nothing is appended any more: puts what there is onto the disk.
  Result<void> finish();
  // Gives it its name, replacing a file that has it.
  Result<void> keep();

  const std::string& path() const { return path_; }

 private:
  PartialFile(std::string path, std::string partial, int descriptor);
  // Writes what waits, and a piece behind it.
  Result<void> flush_with(std::string_view piece);
  void begin_with_what_is_written();

  std::string path_;
  std::string partial_;  // empty: kept, or moved from
  int descriptor_;       // negative: finished
  std::string buffer_;
  off_t written_ = 0, begun_ = 0;  // bytes, and those that the disk was told to begin with
  std::future<void> beginning_;
};

// Replaces a file as a whole or not at all.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace stoker::cli
