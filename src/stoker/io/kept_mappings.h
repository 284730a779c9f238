#pragma once

#include <list>
#include <memory>

#include "stoker/core/mutex.h"
#include "stoker/io/file.h"

namespace stoker {

// Mapped files that stay so from pass to pass: to map one anew costs as much as
// summing up its bytes. The ones used last stay, up to so many bytes in all.
class KeptMappings {
 public:
  explicit KeptMappings(int64_t at_most = int64_t{256} << 20) : at_most_(at_most) {}

  // As MappedFile::map: the file as it is now, null where it would have to be read.
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
