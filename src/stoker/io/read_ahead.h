#pragma once

#include <string>
#include <vector>

#include "stoker/io/file.h"

namespace stoker {

// Tells the system what a reader that goes through a mapped file wants next,
// and, of data that memory cannot hold, what it has done with.
class ReadAhead {
 public:
  // How far ahead bytes are asked for, how far behind they are let go, and the
  // steps in which either is done.
  static constexpr int64_t kAhead = 16 << 20, kBehind = 32 << 20, kStep = 4 << 20;

  explicit ReadAhead(bool let_go) : let_go_(let_go) {}

  // To be called as often as one likes with where the reader is.
  void at(int64_t offset, const MappedFile& file) {
    if (offset < next_) return;
    step(offset, file);
  }

 private:
  void step(int64_t offset, const MappedFile& file);

  bool let_go_;
  int64_t next_ = 0;   // where the next step is due
  int64_t asked_ = 0;  // up to here
  int64_t left_ = 0;   // let go up to here
};

// Whether these files together are larger than the machine's memory. Those that
// cannot be looked at count as empty.
bool exceed_memory(const std::vector<std::string>& paths);

}  // namespace stoker
