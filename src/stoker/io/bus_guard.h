#pragma once

#include <cstddef>

namespace stoker {

// While a guard is alive, reading a page of its mapped memory that the file no
// longer has (it was truncated) does not raise SIGBUS: the page reads as zeros
// from then on. There is no limit on the number of guards.
//
// Every other SIGBUS goes to the handler that the program installed, before our
// own or after it, or has the effect it would have had without ours: the default
// action ends the process by SIGBUS.
class BusGuard {
 public:
  BusGuard(const void* begin, size_t bytes);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // Whether a page was missing.
  bool met_a_hole() const;

  struct Place;

 private:
  Place* place_;
};

}  // namespace stoker
