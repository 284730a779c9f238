#include "stoker/io/read_ahead.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace stoker {

void ReadAhead::step(int64_t offset, const MappedFile& file) {
  asked_ = std::max(asked_, offset);
  file.will_need(asked_, offset + kAhead - asked_);
  asked_ = offset + kAhead;
  if (let_go_ && offset - kBehind > left_) {
    file.done_with(left_, offset - kBehind - left_);
    left_ = offset - kBehind;
  }
  next_ = offset + kStep;
}

bool exceed_memory(const std::vector<std::string>& paths) {
  const int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  int64_t bytes = 0;
  for (const std::string& path : paths) {
    struct stat status;
    if (stat(path.c_str(), &status) == 0) bytes += status.st_size;
    if (bytes > memory) return true;
  }
  return false;
}

}  // namespace stoker
