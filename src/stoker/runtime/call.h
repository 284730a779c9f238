#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "stoker/core/mutex.h"
#include "stoker/runtime/meter.h"

namespace stoker {

// A call that may wait or never return: user functions, sources, reads.
struct Call {
  Meter* stage = nullptr;  // null: no call is in progress
  int64_t since = 0;
  int64_t first = 0;                          // ordinal of the first row of its run
  const std::atomic<int32_t>* row = nullptr;  // the current row of that run
  int64_t report_after_ns = 0;                // a longer call is reported
  bool reported = false;
};

// The call that one thread of the pool is executing. The thread writes it and the monitor reads it. While the monitor
// holds the mutex, the call does not end.
struct ThreadSlot {
  Mutex mutex;
  Call call STOKER_GUARDED_BY(mutex);
  std::atomic<bool> counts_as_worker{false};
  std::atomic<bool> found_waiting{false};  // the monitor has replaced the worker
  int tid = 0;
  clockid_t cpu_clock{};
  int64_t cpu_seen = -1;  // used only by the monitor
  int64_t unchanged_since = 0;

  // The slot of the calling thread; null if it does not belong to the pool.
  static ThreadSlot*& mine();
};

// Shows a call to the monitor during its lifetime, and afterwards the outer call.
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
