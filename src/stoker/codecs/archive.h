#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/core/array.h"

namespace stoker {

// A file in an archive.
struct ArchiveMember {
  std::string name;
  std::string link;    // the name of the member it is a hard link to; empty: none
  int64_t offset = 0;  // of its bytes in the archive
  int64_t size = 0;
};

// The bytes of an archive from front to back.
class ArchiveInput {
 public:
  virtual ~ArchiveInput() = default;
  // The next bytes, alive until the next call; none at the end.
  virtual Result<Bytes> read() = 0;
  // Goes past some of the next bytes without reading them, at most so many;
  // says how many.
  virtual Result<int64_t> skip(int64_t) { return 0; }
};

// The members of a tar of any dialect, in order: ustar, GNU, pax, concatenated
// ones, ones without end blocks. Folders, symbolic links and devices are passed
// over. A damaged header is DataLoss and the end.
class TarReader {
 public:
  // Unimplemented in a build without libarchive.
  static Result<std::unique_ptr<TarReader>> open(std::unique_ptr<ArchiveInput> input);
  virtual ~TarReader() = default;

  // Nothing at the end, and behind an error.
  virtual Result<std::optional<ArchiveMember>> next() = 0;
  // Of the member that next() gave last; it has at most so many bytes.
  virtual Result<std::string> contents(int64_t at_most) = 0;
};

// The members of a zip with their bytes, stored or deflated, checksums checked;
// all together at most so many bytes.
Result<std::vector<std::pair<std::string, std::string>>> read_zip(Bytes zip, int64_t at_most);

}  // namespace stoker
