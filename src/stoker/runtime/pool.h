#pragma once

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/runtime/engine.h"

namespace stoker {

// What one thread of the pool is doing, for the watchdog and for finding
// calls that wait. Written by the thread, read by the monitor.
struct ThreadSlot {
  std::atomic<int64_t> since{0};  // when the call in progress began; 0: there is none
  std::atomic<Meter*> stage{nullptr};
  std::atomic<int64_t> element{-1};  // ordinal of the ticket's first row
  std::atomic<bool> user{false};     // the call is the user's
  std::atomic<bool> counts_as_worker{false};
  std::atomic<bool> found_waiting{false};  // the monitor has put another worker in its place
  std::atomic<bool> told{false};
  int tid = 0;
  clockid_t cpu_clock{};
  int64_t cpu_seen = -1;  // the monitor's own
  int64_t unchanged_since = 0;
};

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

  static ThreadSlot*& slot();
  int threads();  // alive now, both kinds

 private:
  Pool();
  void start_monitor();
  void worker_loop(std::shared_ptr<ThreadSlot> slot);
  void waiter_loop(std::shared_ptr<ThreadSlot> slot);
  void monitor_loop();
  bool look_at(ThreadSlot& slot, int64_t now);
  bool has_slept(ThreadSlot& slot, int64_t since, int64_t now);
  bool work(ThreadKind kind);
  std::vector<std::shared_ptr<Engine>> engines();
  void spawn_worker();  // under mutex_
  void spawn_waiter();  // under mutex_

  std::atomic<int> target_{0};
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> idle_workers_{0};
  std::atomic<int> idle_waiters_{0};
  std::atomic<bool> user_calls_{false};

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable waiter_work_;
  std::condition_variable monitor_;
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> engines_;
  std::vector<std::shared_ptr<ThreadSlot>> slots_;
  int active_workers_ = 0;  // not found waiting
  int waiters_ = 0;
  bool monitor_running_ = false;
  size_t next_engine_ = 0;
};

}  // namespace stoker
