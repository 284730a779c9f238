#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/io/stream.h"

namespace stoker::cli {

class BadFiles;
class Progress;

// Compressed files, unpacked into a hidden folder for as long as it lives: pack
// mixes records, and so reads them in any order.
class Unpacked {
 public:
  // The folder is made in `target`, where something is compressed.
  // Of one that is cut or damaged, what comes before that is kept where bad files are skipped.
  static Result<std::shared_ptr<const Unpacked>> of(const std::vector<std::string>& paths, const std::string& target,
                                                    bool quiet, BadFiles& bad);
  explicit Unpacked(std::string folder) : folder_(std::move(folder)) {}
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked();

  // Those that were plain are where they were. Names lose no more than ".gz".
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Result<void> add(const std::string& path, Compression compression, Progress& progress, BadFiles& bad);

  const std::string folder_;
  std::vector<std::string> paths_;
};

// "a.tar" of a.tar.gz, a.tgz, a.tar.zst and a.tar.zlib; other names as they are.
std::string name_unpacked(std::string name);

}  // namespace stoker::cli
