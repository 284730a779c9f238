#pragma once

#include <list>
#include <memory>

#include "stoker/core/mutex.h"
#include "stoker/io/file.h"

namespace stoker {

// Mapped files that stay mapped from pass to pass, because mapping a file again takes as long as
// summing its bytes. Keeps the files used last, up to a number of bytes in total. Thread-safe.
class KeptMappings {
 public:
  explicit KeptMappings(int64_t at_most = int64_t{256} << 20) : at_most_(at_most) {}

  // Maps the current version of the file, as MappedFile::map does; null if it would have to be
  // read.
  std::shared_ptr<const MappedFile> map(const File& file);

 private:
  struct Kept {
    FileIdentity file;
    std::shared_ptr<const MappedFile> mapping;
  };
  void make_room(int64_t bytes) STOKER_REQUIRES(mutex_);

  const int64_t at_most_;
  Mutex mutex_;
  std::list<Kept> kept_ STOKER_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace stoker
