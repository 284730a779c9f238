#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/runtime/failure_log.h"
#include "stoker/runtime/schedule.h"

namespace stoker {

// How often a thread that waits for an engine checks whether it is interrupted.
inline constexpr std::chrono::milliseconds kInterruptCheckInterval{100};

// The reading side of an engine: takes results from the last window and delivers them one by one. While it waits, the
// calling thread runs pieces on its path.
//
// Any thread may call any function. One thread at a time is inside next(). The lock of the consumer is acquired before
// that of the engine.
class Consumer {
 public:
  // The engine and the flags must outlive it.
  Consumer(Engine& engine, EngineFlags& flags, EpochPasses epoch);

  // See Engine::next().
  Result<std::optional<Element>> next();
  // The calling thread could not use the row, an element or an error, that next() returned to it last: save() then
  // returns the position before it, until redeliver(). Does nothing if the row went to another thread.
  void withdraw();
  void redeliver() { withdrawn_ = Withdrawn(); }
  // Frees the results that were taken for delivery. Does nothing while a thread is inside next(). That thread calls
  // this function before it returns, because the engine is stopped.
  void drop_undelivered();
  // Whether the user interrupts the calling thread. Must be called without a lock but the consumer's.
  bool is_interrupted_now() const;

  const FailureLog& failures() const { return failures_; }
  int64_t wait_ns() const { return wait_ns_.load(std::memory_order_relaxed); }

  // ---- under the engine's lock
  // Wakes a thread that waits for a result.
  void wake() STOKER_REQUIRES(engine_lock);
  // Wakes a thread that sleeps, because the engine was stopped.
  void wake_to_stop() { wakes_.notify_all(); }
  // Returns for how long the consumer has waited, once per wait and after `at_least_ns`. Otherwise 0.
  int64_t stalled_ns(int64_t now, int64_t at_least_ns) STOKER_REQUIRES(engine_lock);
  // Adds to a checkpoint what was counted. Returns the number of rows that left the last window and were delivered.
  int64_t save(Json& checkpoint) const;
  // Must be called before next().
  void restore(const Json& checkpoint) { failures_.restore(checkpoint); }

 private:
  class Inside;
  // A row that next() has returned and that does not count as delivered.
  struct Withdrawn {
    int32_t rows = 0;      // 0 or 1
    int32_t elements = 0;  // in this row; 0 if it failed
  };

  bool lock_unless_interrupted() STOKER_TRY_ACQUIRE(true, mutex_);
  Result<std::optional<Element>> next_element() STOKER_REQUIRES(mutex_);
  Result<void> add_failure(Failure& failure, int32_t row) STOKER_REQUIRES(mutex_);
  void fail_if_truncated(int32_t row) STOKER_REQUIRES(mutex_);
  void note_pass_at(int32_t row) STOKER_REQUIRES(mutex_);
  void note_pass(const Origin& origin) STOKER_REQUIRES(mutex_);
  Result<bool> refill() STOKER_REQUIRES(mutex_);
  bool take_ready() STOKER_REQUIRES(mutex_);
  void take_small_runs(Segment& last, Window::Leftovers& left) STOKER_REQUIRES(mutex_, engine_lock);
  bool wait_for_head() STOKER_REQUIRES(mutex_, engine_lock);
  bool run_piece(Piece piece) STOKER_REQUIRES(mutex_, engine_lock);
  bool wait_for_wakeup() STOKER_REQUIRES(mutex_, engine_lock);
  bool stop_waiting() STOKER_REQUIRES(engine_lock);
  bool spin() const STOKER_REQUIRES(mutex_);
  bool must_stop_waiting() STOKER_REQUIRES(mutex_);

  Engine& engine_;
  EngineFlags& flags_;
  std::atomic<int64_t> wait_ns_{0};          // that next() has waited so far
  std::atomic<std::thread::id> inside_{};    // the thread inside next(), for that thread itself
  std::atomic<std::thread::id> receiver_{};  // of the last row
  std::atomic<int32_t> last_elements_{0};    // in that row
  std::atomic<Withdrawn> withdrawn_{};
  FailureLog failures_;

  // On other cache lines than the members that workers write.
  alignas(64) TimedMutex mutex_;           // one next() at a time
  Run current_ STOKER_GUARDED_BY(mutex_);  // its rows are being delivered
  int32_t current_row_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t pass_noted_until_ STOKER_GUARDED_BY(mutex_) = 0;  // the rows of current_ before this one
  std::deque<Run> ready_ STOKER_GUARDED_BY(mutex_);         // delivered after it
  std::atomic<int64_t> delivered_rows_{0};                  // with failed ones; save() reads it while next() waits
  int64_t takes_ STOKER_GUARDED_BY(mutex_) = 0;             // from the last window
  bool interrupted_ STOKER_GUARDED_BY(mutex_) = false;
  int64_t asked_ns_ STOKER_GUARDED_BY(mutex_) = 0;            // when `interrupted` was last called
  std::vector<int64_t> last_pass_ STOKER_GUARDED_BY(mutex_);  // that was delivered, by source
  int64_t usual_wait_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> result_ready_{false};  // set by wake(), for a thread that polls

  alignas(64) Condition wakes_;
  bool asleep_ STOKER_GUARDED_BY(engine_lock) = false;
  int64_t waiting_since_ STOKER_GUARDED_BY(engine_lock) = 0;  // 0: does not wait
  bool stall_reported_ STOKER_GUARDED_BY(engine_lock) = false;
};

}  // namespace stoker
