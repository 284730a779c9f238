#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/core/result.h"

namespace stoker::cli {

class Progress;

// Compressed files, unpacked into a hidden folder for as long as it lives: pack
// mixes records, and so reads them in any order.
class Unpacked {
 public:
  // The folder is made in `target`, where something is compressed.
  static Result<std::shared_ptr<const Unpacked>> of(const std::vector<std::string>& paths, const std::string& target,
                                                    bool quiet);
  explicit Unpacked(std::string folder) : folder_(std::move(folder)) {}
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked();

  // Those that were plain are where they were. Names lose no more than ".gz".
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Result<void> add(const std::string& path, Progress& progress);

  const std::string folder_;
  std::vector<std::string> paths_;
};

// "a.tar" of a.tar.gz, a.tgz and a.tar.zst; other names as they are.
std::string name_unpacked(std::string name);

}  // namespace stoker::cli
