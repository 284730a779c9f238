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

// The threads of the process, shared by all iterators: workers, which compute at a lower priority than the consumer,
// and waiting threads, for calls that wait.
class Pool {
 public:
  static Pool& process();

  int workers() const { return target_.load(std::memory_order_relaxed); }
  // 0: the consumer does all work itself.
  void set_workers(int n);

  // Has no effect on an engine that was stopped.
  void add(std::shared_ptr<Engine> engine);
  void remove(Engine* engine);

  // Whether this process was forked from one whose pool had threads. These threads do not exist here, and the locks
  // that they held stay locked.
  static bool is_lost_in_fork();

  // Wakes an idle thread for new work.
  void wake();
  void wake_all();
  // Requests waiting threads for this many more calls.
  void request_waiters(int n);

  // Frees memory: drops cached elements and results that can be computed again.
  void reclaim(int64_t bytes);

  int threads();  // of both kinds

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
  bool has_surplus_worker() STOKER_EXCLUDES(mutex_);
  bool work(ThreadKind kind);
  bool more_came(uint64_t seen) const;
  std::vector<std::shared_ptr<Engine>> engines();
  void spawn_workers() STOKER_REQUIRES(mutex_);
  bool spawn_worker() STOKER_REQUIRES(mutex_);
  bool spawn_waiter() STOKER_REQUIRES(mutex_);  // by the monitor
  void do_without_threads() STOKER_REQUIRES(mutex_);

  std::atomic<int> target_{0};                  // the number of workers that should run now
  std::atomic<uint64_t> generation_{0};         // increases when there is work for workers
  std::atomic<uint64_t> waiter_generation_{0};  // and for waiting threads
  std::atomic<int> idle_workers_{0};
  std::atomic<int> idle_waiters_{0};

  Mutex mutex_;
  Condition work_;
  Condition waiter_work_;
  Condition monitor_;
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> engines_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<ThreadSlot>> slots_ STOKER_GUARDED_BY(mutex_);
  int requested_workers_ STOKER_GUARDED_BY(mutex_) = 0;  // workers, from the settings or the machine
  bool warned_ STOKER_GUARDED_BY(mutex_) = false;        // about threads that the system refused to create
  int active_workers_ STOKER_GUARDED_BY(mutex_) = 0;     // without those that wait
  int waiters_ STOKER_GUARDED_BY(mutex_) = 0;
  int starting_waiters_ STOKER_GUARDED_BY(mutex_) = 0;  // of these, started but not yet running
  int more_waiters_ STOKER_GUARDED_BY(mutex_) = 0;      // that the monitor has to start
  bool look_now_ STOKER_GUARDED_BY(mutex_) = false;
  int64_t added_ns_ STOKER_GUARDED_BY(mutex_) = 0;  // when the newest iterator was added
  bool monitor_running_ STOKER_GUARDED_BY(mutex_) = false;
  size_t next_engine_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
