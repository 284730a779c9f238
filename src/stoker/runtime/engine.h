#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/consumer.h"
#include "stoker/runtime/loader_stats.h"
#include "stoker/runtime/plan.h"
#include "stoker/runtime/schedule.h"
#include "stoker/runtime/tuner.h"

namespace stoker {

class TicketRun;

struct EngineOptions {
  bool skip_errors = false;
  double skip_at_most = 1.0;
  double stall_warning_s = 30;
  bool counts_passes = true;           // later iterators start after the passes of this one
  bool alone = false;                  // the consumer's thread does all work
  bool calls_user_in_children = true;  // if not, a dataset with user functions that an element opens is an error
  std::function<bool()> interrupted;   // called regularly while the consumer waits; true ends the wait
  std::function<void(const LoaderStats&)> waiting;  // receives stats() as often
  std::shared_ptr<void> owner;                      // the loader's, for user functions
};

// One iterator: runs a plan for one consumer, in order.
//
// The parts have classes of their own: Schedule chooses the next piece of work, TicketRun and the lines do it, Window
// restores the order, Consumer delivers, Tuner adapts the windows. The engine connects them, and its lock guards what
// they share.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static std::shared_ptr<Engine> make(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters,
                                      EngineOptions options, Passes passes);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Returns the next element, the end (at every later call, too), or an error, after which the next call continues.
  // Safe from several threads, also while another one stops or releases the engine: it then returns the end. The arrays
  // of the element belong to the caller (delivery.h).
  Result<std::optional<Element>> next();
  // See Consumer.
  void withdraw() { consumer_.withdraw(); }
  void redeliver() { consumer_.redeliver(); }
  // Whether the calling thread runs a piece of this engine's work. User code in it must not wait for the engine.
  bool is_running_here() const;

  // Lets the workers start before the first next().
  void begin();
  // Whether the last piece of work has started: the next epoch may start then, and takes no time from this one.
  bool all_started() const { return flags_.all_started.load(std::memory_order_relaxed); }
  // `call` is called once, by the thread that starts the last piece. Set it before begin().
  void on_all_started(std::function<void()> call) { on_all_started_ = std::move(call); }

  // Cancels work that has not started.
  void stop();
  // After stop(): frees the rest when the calls in progress have ended. A call that has not ended by the deadline
  // accesses only the objects that it holds.
  void release_by(std::chrono::steady_clock::time_point deadline);
  void release_when_done();

  // Does not wait for a thread inside next(). The saved position is after the last element that any thread has
  // received.
  Result<Json> save();
  // Must be called before begin(). User functions that it calls run for this engine.
  Result<void> restore(const Json& checkpoint);

  std::vector<SkippedElement> skipped() const { return consumer_.failures().skipped(); }
  int64_t delivered() const { return consumer_.failures().delivered(); }
  int64_t consumer_wait_ns() const { return consumer_.wait_ns(); }
  LoaderStats stats();
  const Plan& plan() const { return *plan_; }
  // Must not be called after release.
  Passes passes() const {
    const EngineLock lock(mutex_);
    return root_->passes;
  }

  // ---- for the pool
  // Runs one piece of work if there is one for this kind of thread.
  bool run_one(ThreadKind kind);
  // The number of pieces for waiting threads, up to `most`. The monitor calls this regularly.
  int waiter_work(int most);
  bool consumer_waiting() const { return flags_.consumer_waiting.load(std::memory_order_relaxed); }
  // Drops results that can be computed again. Returns the number of bytes.
  int64_t reclaim(int64_t bytes);
  // Samples and tunes. Returns a message to report; empty if there is none.
  std::string tick(int64_t now);

  // ---- for lines
  EngineMutex& mutex() { return mutex_; }
  const std::atomic<bool>& stopped() const { return flags_.stopped; }
  const EngineOptions& options() const { return options_; }
  // Takes the next rows from a segment's window.
  Pulled take(Segment& segment, int64_t most);
  std::shared_ptr<Instance> open(const SegmentPlan& root, std::shared_ptr<const Plan> plan, const Instance& outer,
                                 int64_t pass, std::shared_ptr<const Level> level, std::string path, int rank);
  void close(Instance& instance);
  Meters& meters() { return *meters_; }
  bool line_ended(const Segment& segment);

  // ---- for the consumer
  // The segment that the consumer reads. Null after release.
  Segment* last_segment() STOKER_REQUIRES(engine_lock) { return root_ ? root_->root : nullptr; }
  // The next piece on the consumer's path, if its thread may run it.
  Piece pick_demand() STOKER_REQUIRES(engine_lock) {
    return schedule_.pick_demand(ThreadKind::kConsumer, *root_->root);
  }
  // Runs a piece. The caller keeps the engine alive.
  void run(Piece piece, ThreadKind kind);
  // Takes up to `most` rows from a window. Returns an empty run if its head is not done.
  Run take_head(Segment& segment, int64_t most, Window::Leftovers& left) STOKER_REQUIRES(engine_lock);
  // Returns 1 if a waiting thread has to be woken, otherwise 0.
  int call_waiters() STOKER_REQUIRES(engine_lock) { return schedule_.call_waiters(1); }
  // Records that an element of this pass of a source was delivered.
  void note_pass(int32_t source, int64_t pass);

 private:
  Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options, EpochPasses epoch);

  Result<Json> cut(DeferredParts& deferred);
  void release() STOKER_RELEASE(engine_lock);
  void abandon() STOKER_RELEASE(engine_lock);

  // With the lock.
  Ticket* accept(const Piece& piece, ThreadKind kind, Pulled& pulled) STOKER_REQUIRES(engine_lock);
  bool end_ticket(Segment& segment, Ticket& ticket, const TicketRun& run, bool requeued, Runs& dropped)
      STOKER_REQUIRES(engine_lock);
  void reserve(int64_t element_bytes) STOKER_REQUIRES(engine_lock);
  void note_progress(Segment& segment) STOKER_REQUIRES(engine_lock);
  void wake_consumer() STOKER_REQUIRES(engine_lock);

  // Without the lock.
  Pulled pull(const Piece& piece);
  void run_line(const Piece& piece, ThreadKind kind);
  void run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind);
  void report_all_begun();
  int64_t report_after_ns() const { return static_cast<int64_t>(options_.stall_warning_s * 1e9); }

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Meters> meters_;
  const EngineOptions options_;
  const std::shared_ptr<Account> account_;
  const int64_t made_ns_ = now_ns();
  EngineFlags flags_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> all_started_reported_{false};
  std::function<void()> on_all_started_;

  Consumer consumer_;

  alignas(64) mutable EngineMutex mutex_;
  Condition piece_done_;
  std::shared_ptr<Instance> root_ STOKER_GUARDED_BY(engine_lock);
  Schedule schedule_ STOKER_GUARDED_BY(engine_lock);
  Tuner tuner_ STOKER_GUARDED_BY(engine_lock);
  int64_t reserved_ STOKER_GUARDED_BY(engine_lock) = 0;  // bytes of the budget: the size of the largest element so far
  bool released_ STOKER_GUARDED_BY(engine_lock) = false;
};

}  // namespace stoker
