#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/runtime/call.h"
#include "stoker/runtime/engine.h"

namespace stoker {

// The threads of the process, shared by all iterators: workers that work, at
// lower priority than the consumer's, and waiting threads for what waits.
class Pool {
 public:
  static Pool& process();

  int workers() const { return target_.load(std::memory_order_relaxed); }
  // None means: the consumer does everything itself.
  void set_workers(int n);

  // Has no effect on an engine that was stopped.
  void add(std::shared_ptr<Engine> engine);
  void remove(Engine* engine);

  // Whether this process was forked from one whose pool had threads: they do not
  // exist here, and the locks they held stay locked.
  static bool is_lost_in_fork();

  // There is new work; an idle thread should look.
  void wake();
  void wake_all();
  // So many more calls could wait on threads of their own.
  void want_waiters(int n);

  // Makes room by dropping cached elements and finished results.
  void reclaim(int64_t bytes);

  int threads();  // alive now, both kinds

 private:
  Pool();
  void start_monitor() STOKER_REQUIRES(mutex_);
  void worker_loop(std::shared_ptr<ThreadSlot> slot);
  void waiter_loop(std::shared_ptr<ThreadSlot> slot);
  void monitor_loop();
  void wait_for_engines() STOKER_REQUIRES(mutex_);
  enum class Seen { kNothing, kCall, kUnknownCall };
  Seen look_at(ThreadSlot& slot, int64_t now, std::vector<std::string>& messages) STOKER_REQUIRES(mutex_);
  static bool has_slept(ThreadSlot& slot, int64_t now) STOKER_REQUIRES(slot.mutex);
  bool work(ThreadKind kind);
  bool more_came(uint64_t seen) const;
  std::vector<std::shared_ptr<Engine>> engines();
  void spawn_workers() STOKER_REQUIRES(mutex_);
  bool spawn_worker() STOKER_REQUIRES(mutex_);
  bool spawn_waiter() STOKER_REQUIRES(mutex_);  // by the monitor
  void do_without_threads() STOKER_REQUIRES(mutex_);

  std::atomic<int> target_{0};                  // workers there should be now
  std::atomic<uint64_t> generation_{0};         // of what there is for workers
  std::atomic<uint64_t> waiter_generation_{0};  // and for waiters
  std::atomic<int> idle_workers_{0};
  std::atomic<int> idle_waiters_{0};

  Mutex mutex_;
  Condition work_;
  Condition waiter_work_;
  Condition monitor_;
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> engines_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<ThreadSlot>> slots_ STOKER_GUARDED_BY(mutex_);
  int wanted_ STOKER_GUARDED_BY(mutex_) = 0;          // workers that the user or the machine asks for
  bool warned_ STOKER_GUARDED_BY(mutex_) = false;     // that the system gave no more threads
  int active_workers_ STOKER_GUARDED_BY(mutex_) = 0;  // not found waiting
  int waiters_ STOKER_GUARDED_BY(mutex_) = 0;
  int starting_waiters_ STOKER_GUARDED_BY(mutex_) = 0;  // of these, that have not run yet
  int more_waiters_ STOKER_GUARDED_BY(mutex_) = 0;      // that the monitor is to start
  bool look_now_ STOKER_GUARDED_BY(mutex_) = false;
  int64_t added_ns_ STOKER_GUARDED_BY(mutex_) = 0;  // when the newest iterator came
  bool monitor_running_ STOKER_GUARDED_BY(mutex_) = false;
  size_t next_engine_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
