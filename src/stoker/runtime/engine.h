#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/runtime/budget.h"
#include "stoker/runtime/plan.h"
#include "stoker/runtime/segment.h"

namespace stoker {

struct Task;

// Which threads may run a piece of work.
enum class ThreadKind { kWorker, kWaiter, kConsumer };

struct SkippedElement {
  std::string origin;
  Error error;
};

struct EngineOptions {
  bool skip_errors = false;
  double skip_at_most = 1.0;
  double stall_warning_s = 30;
  bool counts_passes = true;                 // for the iterators after it
  bool alone = false;                        // the consumer's thread does all work
  bool calls_user_in_children = true;        // else what a nested graph with user functions gives is an error
  std::function<bool()> interrupted;         // asked now and then while the consumer waits
  std::function<void(const Json&)> waiting;  // told stats() as often
};

// One iterator: runs a plan for one consumer, in order.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static std::shared_ptr<Engine> make(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters,
                                      EngineOptions options, Passes passes);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The next element, the end (again and again), or an error, after which the
  // next call goes on. Safe from several threads, also while another one stops
  // or releases the engine: it then returns the end. Each array of the element
  // is the caller's own (delivery.h).
  Result<std::optional<Element>> next();
  // Whether the calling thread is inside a piece of this engine's work: user
  // code that it runs must not wait for it.
  bool is_running_here() const;

  // Lets the workers begin before anybody asks.
  void begin();
  // Whether the last piece of work has begun: the next epoch may fill, and
  // takes nothing from this one.
  bool all_begun() const { return all_begun_.load(std::memory_order_relaxed); }
  // Called once, by whichever thread finds that out. To be set before begin().
  void on_all_begun(std::function<void()> call) { on_all_begun_ = std::move(call); }

  // Takes back what has not begun.
  void stop();
  // After that: frees what is left, when the calls in progress have ended. One
  // that has not by then finds nothing of ours to touch but what it holds.
  void release_by(std::chrono::steady_clock::time_point deadline);
  void release_when_done();

  Result<Json> save();
  Result<void> restore(const Json& cut);

  std::vector<SkippedElement> skipped();
  int64_t delivered() const { return delivered_elements_; }
  int64_t consumer_wait_ns() const { return wait_ns_.load(std::memory_order_relaxed); }
  Json stats();
  const Plan& plan() const { return *plan_; }
  // Only before release.
  Passes passes() const {
    const MutexLock lock(mutex_);
    return root_->passes;
  }

  // ---- for the pool
  // Runs one piece of work if there is any for this kind of thread.
  bool run_one(ThreadKind kind);
  // Pieces that wait for a waiting thread, up to `most`.
  int waiter_work(int most);
  bool consumer_waiting() const { return consumer_waiting_.load(std::memory_order_relaxed); }
  // Drops finished results that can be made again; returns the bytes.
  int64_t reclaim(int64_t bytes);
  // Samples and tunes; the message that is due, if one is.
  std::string tick(int64_t now);

  // ---- for lines
  Mutex& mutex() STOKER_ANNOTATION(lock_returned(mutex_)) { return mutex_; }
  const std::atomic<bool>& stopped() const { return stopped_; }
  const EngineOptions& options() const { return options_; }
  // The next rows of a segment's window.
  Pulled take(Segment& segment, int64_t most);
  std::shared_ptr<Instance> open(const SegmentPlan& root, std::shared_ptr<const Plan> plan, const Instance& outer,
                                 int64_t pass, std::shared_ptr<const Origin> parent, std::string path, int rank);
  void close(Instance& instance);
  Meters& meters() { return *meters_; }
  bool line_ended(const Segment& segment);

 private:
  struct Piece {
    Segment* segment = nullptr;
    Ticket* ticket = nullptr;  // null: the line
    int64_t most = 1;
    bool demand = false;
    std::shared_ptr<Instance> alive;  // a child may be closed while its piece runs
    explicit operator bool() const { return segment != nullptr; }
  };
  // What is left of a window's head when its rows are gone.
  struct TakenFrom {
    Runs runs;
    RecycledVector<std::shared_ptr<Slab>> slabs;
  };
  // Downstream first; of one rank, the oldest first.
  struct InOrder {
    bool operator()(const Segment* a, const Segment* b) const {
      return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
    }
  };
  using Segments = std::set<Segment*, InOrder, RecycledAllocator<Segment*>>;
  Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options);

  void release() STOKER_RELEASE(mutex_);
  void abandon() STOKER_RELEASE(mutex_);

  // Under the lock.
  void add_to_order(const Instance& instance) STOKER_REQUIRES(mutex_);
  void forget_segments() STOKER_REQUIRES(mutex_);
  Piece pick(ThreadKind kind) STOKER_REQUIRES(mutex_);
  Piece pick_demand(ThreadKind kind) STOKER_REQUIRES(mutex_);
  bool may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const STOKER_REQUIRES(mutex_);
  static int64_t most_calls(const StepPlan& step, bool waits);
  bool calls_user(const Segment& segment, size_t from) const STOKER_REQUIRES(mutex_);
  bool line_may_run(const Segment& segment, ThreadKind kind) const STOKER_REQUIRES(mutex_);
  static bool line_ready(const Segment& segment);
  bool has_work() STOKER_REQUIRES(mutex_);
  bool has_work_in(Segments& listed, ThreadKind kind) STOKER_REQUIRES(mutex_);
  // A segment may have work again: its window has room, its line or a ticket is free to run.
  void note_work(Segment& segment) STOKER_REQUIRES(mutex_);
  // It gave a result or ended: so may the one that waits for it.
  void note_result(const Segment& segment) STOKER_REQUIRES(mutex_);
  static bool has_work_for(const Segment& segment, ThreadKind kind);
  static void note_full(Segment& segment);
  Segments::iterator drop(Segments& listed, Segments::iterator at) STOKER_REQUIRES(mutex_);
  static size_t enough_queued();
  static size_t capacity_of(const Segment& segment);
  static size_t capacity_of(const Segment& segment, size_t enough);
  static bool has_room_to_wake_for(const Segment& segment);
  // Pieces for which a waiting thread is to be woken now, up to `most`; a line calls for one once.
  int call_waiters(int most) STOKER_REQUIRES(mutex_);
  bool admit(Segment& segment, Ticket& ticket) STOKER_REQUIRES(mutex_);
  bool admit_line(const Segment& segment) STOKER_REQUIRES(mutex_);
  void start(Piece& piece, ThreadKind kind) STOKER_REQUIRES(mutex_);
  int64_t rows_for(const Segment& segment) const STOKER_REQUIRES(mutex_);
  int64_t tickets_for(const Segment& segment) const STOKER_REQUIRES(mutex_);
  Ticket* issue_all(Segment& segment, Run run) STOKER_REQUIRES(mutex_);
  Ticket* issue(Segment& segment, Run run) STOKER_REQUIRES(mutex_);
  void set_slab(Segment& segment, Ticket& ticket) STOKER_REQUIRES(mutex_);
  static void keep_result(Ticket& ticket);
  static void pass_turns(Segment& segment, const Ticket& ticket, size_t end);
  static void refresh_likes(const Segment& segment, Ticket& ticket);
  void forget(Segment& segment, Ticket& ticket) STOKER_REQUIRES(mutex_);
  static bool gave_what_is_known(const Segment& segment, const Ticket& ticket);
  static void settle(const Segment& segment, Ticket& ticket, Runs& dropped);
  static void settle_head(Segment& segment, Runs& dropped);
  Run take_head(Segment& segment, int64_t most, TakenFrom& from) STOKER_REQUIRES(mutex_);
  void note_begun(const Segment& segment) STOKER_REQUIRES(mutex_);
  void learn(Segment& segment, int64_t ns, int32_t rows) STOKER_REQUIRES(mutex_);
  void wake_consumer() STOKER_REQUIRES(mutex_);
  void sample(Segment& segment) STOKER_REQUIRES(mutex_);
  static void tune(Segment& segment, int64_t now);
  void reserve(int64_t element_bytes) STOKER_REQUIRES(mutex_);
  static Json meter_json(const Meter& meter);
  Json running_json();
  Json held_json() const;
  std::string awaited() const STOKER_REQUIRES(mutex_);
  std::string origin_of(const Segment& segment, const Ticket& ticket) const STOKER_REQUIRES(mutex_);
  int64_t tell_after_ns() const { return static_cast<int64_t>(options_.stall_warning_s * 1e9); }

  // Without it.
  void run(Piece piece, ThreadKind kind);
  void run_line(Piece piece, ThreadKind kind);
  void run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind);
  void end_part(Segment& segment, Ticket& ticket, Task& task, int64_t ns, bool handed_on);
  void tell_all_begun();
  Result<std::optional<Element>> next_element() STOKER_REQUIRES(consumer_mutex_);
  bool lock_consumer() STOKER_TRY_ACQUIRE(true, consumer_mutex_);
  Result<bool> refill() STOKER_REQUIRES(consumer_mutex_);
  bool take_ready() STOKER_REQUIRES(consumer_mutex_);
  bool wait_for_head() STOKER_REQUIRES(consumer_mutex_, mutex_);
  bool sleep_until_woken() STOKER_REQUIRES(consumer_mutex_, mutex_);
  bool stop_waiting() STOKER_REQUIRES(mutex_);
  bool is_wanted_elsewhere() STOKER_REQUIRES(consumer_mutex_);
  bool is_interrupted_now() const;  // without a lock
  bool is_alone() const;
  void drop_undelivered();
  bool spin() const STOKER_REQUIRES(consumer_mutex_);
  Result<void> handle(Failure& failure, const Origin& origin) STOKER_REQUIRES(consumer_mutex_);
  Result<void> judge_failures(bool pass_ended) STOKER_REQUIRES(consumer_mutex_, mutex_);
  Error too_many_error(double seen) const STOKER_REQUIRES(mutex_);
  Error nothing_left_error() const STOKER_REQUIRES(mutex_);
  void note_pass(const Origin& origin) STOKER_REQUIRES(consumer_mutex_);

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Meters> meters_;
  const EngineOptions options_;
  std::shared_ptr<Account> account_;
  const int64_t elements_in_a_row_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> consumer_waiting_{false};
  std::atomic<bool> begun_{false};
  std::atomic<bool> all_begun_{false};
  std::atomic<bool> told_all_begun_{false};
  std::function<void()> on_all_begun_;
  std::atomic<int64_t> wait_ns_{0};

  std::atomic<std::thread::id> consumer_thread_{};  // that is inside next()

  // The consumer's own, apart from what workers write. Taken before mutex_.
  alignas(64) TimedMutex consumer_mutex_;           // one next() at a time
  Run current_ STOKER_GUARDED_BY(consumer_mutex_);  // being delivered row by row
  int32_t current_row_ STOKER_GUARDED_BY(consumer_mutex_) = 0;
  std::deque<Run> ready_ STOKER_GUARDED_BY(consumer_mutex_);  // to follow it
  std::atomic<int64_t> delivered_rows_{0};                    // save() reads it while next() waits
  std::atomic<int64_t> delivered_elements_{0};
  int64_t failures_ STOKER_GUARDED_BY(consumer_mutex_) = 0;
  int64_t takes_ STOKER_GUARDED_BY(consumer_mutex_) = 0;
  bool too_many_failed_ STOKER_GUARDED_BY(consumer_mutex_) = false;
  bool interrupted_ STOKER_GUARDED_BY(consumer_mutex_) = false;
  int64_t asked_ns_ STOKER_GUARDED_BY(consumer_mutex_) = 0;            // when that was last asked
  std::vector<int64_t> last_pass_ STOKER_GUARDED_BY(consumer_mutex_);  // delivered, by source
  int64_t usual_wait_ns_ STOKER_GUARDED_BY(consumer_mutex_) = 0;
  std::atomic<bool> result_ready_{false};

  alignas(64) mutable Mutex mutex_;
  Condition consumer_wakes_;
  Condition piece_done_;
  std::shared_ptr<Instance> root_ STOKER_GUARDED_BY(mutex_);
  Segments order_ STOKER_GUARDED_BY(mutex_);  // all that are open
  int64_t numbered_ STOKER_GUARDED_BY(mutex_) = 0;
  // Those of order_ that may have a piece for workers, and for waiting threads:
  // an iterator may have thousands of children open, of which few have. What gives
  // a segment work lists it (note_work); those without are dropped when they are met.
  Segments for_workers_ STOKER_GUARDED_BY(mutex_);
  Segments for_waiters_ STOKER_GUARDED_BY(mutex_);
  int32_t running_ STOKER_GUARDED_BY(mutex_) = 0;        // pieces
  int32_t waiting_lines_ STOKER_GUARDED_BY(mutex_) = 0;  // lines that run on waiting threads
  std::vector<SkippedElement> skipped_ STOKER_GUARDED_BY(mutex_);
  int64_t skipped_count_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t first_failed_pass_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t reserved_ STOKER_GUARDED_BY(mutex_) = 0;  // bytes of the budget: the largest element so far
  int64_t begun_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t last_tuned_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t waiting_since_ STOKER_GUARDED_BY(mutex_) = 0;
  bool stall_told_ STOKER_GUARDED_BY(mutex_) = false;
  bool consumer_asleep_ STOKER_GUARDED_BY(mutex_) = false;
  bool released_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
