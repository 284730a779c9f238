#pragma once

#include <atomic>
#include <cstddef>

namespace stoker {

// While it lives, touching a page of mapped memory that its file no longer has
// (it was cut short) is no SIGBUS: the page reads as zeros from then on. Such
// signals from elsewhere go to whoever had them before. Where all places are
// taken, a file is not guarded.
class BusGuard {
 public:
  BusGuard(const void* begin, size_t bytes);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // Whether a page was missing.
  bool met_a_hole() const;

 private:
  int place_ = -1;
};

}  // namespace stoker
