#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "stoker/core/mutex.h"
#include "stoker/runtime/meter.h"

namespace stoker {

// A call that may wait or never return: the user's functions, sources, reads.
struct Call {
  Meter* stage = nullptr;  // null: none is in progress
  int64_t since = 0;
  int64_t first = 0;                          // ordinal of the first row of its run
  const std::atomic<int32_t>* row = nullptr;  // of that run, the one it has come to
  int64_t tell_after_ns = 0;                  // how long before it is told of
  bool told = false;
};

// What one thread of the pool is doing: written by the thread, read by the
// monitor. While the monitor looks, the call does not end.
struct ThreadSlot {
  Mutex mutex;
  Call call STOKER_GUARDED_BY(mutex);
  std::atomic<bool> counts_as_worker{false};
  std::atomic<bool> found_waiting{false};  // the monitor has put another worker in its place
  int tid = 0;
  clockid_t cpu_clock{};
  int64_t cpu_seen = -1;  // the monitor's own
  int64_t unchanged_since = 0;

  // The calling thread's; null where it is none of the pool's.
  static ThreadSlot*& mine();
};

// Shows a call to the monitor while it lives; then the outer one again.
class CallScope {
 public:
  explicit CallScope(const Call& call);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  ThreadSlot* const slot_;
  Call outer_;
};

}  // namespace stoker
