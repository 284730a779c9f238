#pragma once

#include <string>
#include <vector>

#include "stoker/io/file.h"

namespace stoker {

// Advises the system which bytes of a mapped file a sequential reader needs next and, for data that
// does not fit in memory, which bytes it has finished with.
class ReadAhead {
 public:
  // The distance ahead of the reader at which bytes are requested, the distance after which they
  // are released, and the step size of both.
  static constexpr int64_t kAhead = 16 << 20, kBehind = 32 << 20, kStep = 4 << 20;

  // With `let_go`, pages are also released after use.
  explicit ReadAhead(bool let_go) : let_go_(let_go) {}

  // Call with the position of the reader, as often as convenient.
  void at(int64_t offset, const MappedFile& file) {
    if (offset < next_) return;
    step(offset, file);
  }

 private:
  void step(int64_t offset, const MappedFile& file);

  bool let_go_;
  int64_t next_ = 0;   // the offset of the next step
  int64_t asked_ = 0;  // requested up to here
  int64_t left_ = 0;   // released up to here
};

// Whether these files together are larger than the machine's memory. Files that cannot be accessed
// count as empty.
bool exceed_memory(const std::vector<std::string>& paths);

}  // namespace stoker
