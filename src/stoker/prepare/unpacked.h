#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/io/stream.h"
#include "stoker/prepare/progress.h"

namespace stoker::prepare {

class BadFiles;

// Decompresses files into a hidden folder, which the destructor removes. pack() shuffles records, so it reads them in
// any order.
class Unpacked {
 public:
  // Creates the folder in `target` if a file is compressed. If a file is cut or
  // damaged and bad files are skipped, the part before the damage is kept.
  static Result<std::shared_ptr<const Unpacked>> of(const std::vector<std::string>& paths, const std::string& target,
                                                    BadFiles& bad, const OnProgress& on_progress);
  explicit Unpacked(std::string folder) : folder_(std::move(folder)) {}
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked();

  // In the order of the arguments: the decompressed files, and plain files at
  // their own paths. Names change as in name_unpacked().
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Result<void> add(const std::string& path, Compression compression, Reporter& progress, BadFiles& bad);

  const std::string folder_;
  std::vector<std::string> paths_;
};

// Returns "a.tar" for a.tar.gz, a.tgz, a.tar.zst and a.tar.zlib, and other names
// unchanged.
std::string name_unpacked(std::string name);

}  // namespace stoker::prepare
