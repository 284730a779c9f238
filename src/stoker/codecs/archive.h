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
  std::string link;    // the member that this is a hard link to; empty: none
  int64_t offset = 0;  // of its bytes in the archive
  int64_t size = 0;
};

// The bytes of an archive, read sequentially.
class ArchiveInput {
 public:
  virtual ~ArchiveInput() = default;
  // Returns the next bytes, which are valid until the next call; empty at the end.
  virtual Result<Bytes> read() = 0;
  // Skips up to this many of the next bytes without reading them, and returns how many it skipped.
  virtual Result<int64_t> skip(int64_t) { return 0; }
};

// Lists the members of a tar file in order. Reads every dialect: ustar, GNU, pax, concatenated
// files, files without end blocks. Skips folders, symbolic links and devices. A damaged header is
// DataLoss and ends the list. Not thread-safe.
class TarReader {
 public:
  // Fails with Unimplemented in a build without libarchive.
  static Result<std::unique_ptr<TarReader>> open(std::unique_ptr<ArchiveInput> input);
  virtual ~TarReader() = default;

  // Returns nothing at the end and after an error.
  virtual Result<std::optional<ArchiveMember>> next() = 0;
  // Reads the member that next() returned last. Fails with ResourceExhausted if it has more than
  // `at_most` bytes.
  virtual Result<std::string> contents(int64_t at_most) = 0;
};

// Returns the names and contents of the members of a zip file, stored or deflated, and verifies
// their checksums. Fails with ResourceExhausted if they have more than `at_most` bytes in total.
Result<std::vector<std::pair<std::string, std::string>>> read_zip(Bytes zip, int64_t at_most);

}  // namespace stoker
