#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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

  void add(std::shared_ptr<Engine> engine);
  void remove(Engine* engine);

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
  void start_monitor();
  void worker_loop(std::shared_ptr<ThreadSlot> slot);
  void waiter_loop(std::shared_ptr<ThreadSlot> slot);
  void monitor_loop();
  void wait_for_engines(std::unique_lock<std::mutex>& lock);
  enum class Seen { kNothing, kCall, kUnknownCall };
  Seen look_at(ThreadSlot& slot, int64_t now, std::vector<std::string>& messages);  // under mutex_
  static bool has_slept(ThreadSlot& slot, int64_t now);
  bool work(ThreadKind kind);
  bool more_came(uint64_t seen) const;
  std::vector<std::shared_ptr<Engine>> engines();
  void spawn_worker();  // under mutex_
  void spawn_waiter();  // under mutex_, by the monitor

  std::atomic<int> target_{0};
  std::atomic<uint64_t> generation_{0};         // of what there is for workers
  std::atomic<uint64_t> waiter_generation_{0};  // and for waiters
  std::atomic<int> idle_workers_{0};
  std::atomic<int> idle_waiters_{0};

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable waiter_work_;
  std::condition_variable monitor_;
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> engines_;
  std::vector<std::shared_ptr<ThreadSlot>> slots_;
  int active_workers_ = 0;  // not found waiting
  int waiters_ = 0;
  int more_waiters_ = 0;  // that the monitor is to start
  bool look_now_ = false;
  int64_t added_ns_ = 0;  // when the newest iterator came
  bool monitor_running_ = false;
  size_t next_engine_ = 0;
};

}  // namespace stoker
