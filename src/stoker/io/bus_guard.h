#pragma once

#include <cstddef>

namespace stoker {

// While a guard is alive, reading a page of its mapped memory that the file no longer has, because
// it was truncated, does not raise SIGBUS: the page reads as zeros from then on. The number of
// guards has no limit. Guards may be created and destroyed on any thread.
//
// Every other SIGBUS goes to the handler that the program installed, before or after this one, or
// has the effect that it would have without this handler: the default action ends the process.
class BusGuard {
 public:
  BusGuard(const void* begin, size_t bytes);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // Whether a missing page was read.
  bool met_a_hole() const;

  // Puts our handler in front again where another one has replaced it since the
  // last guard was made: faulthandler.enable() and disable() do. One system call.
  static void reinstall();

  struct Place;

 private:
  Place* place_;
};

}  // namespace stoker
