#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/line.h"
#include "stoker/runtime/plan.h"

namespace stoker {

class Engine;
class Slab;
struct Task;

// Which threads may run a piece of work.
enum class ThreadKind { kWorker, kWaiter, kConsumer };

// A run on its way through a span, at its place in the window.
struct Ticket {
  enum class State { kQueued, kRunning, kDone };

  int64_t first = 0;  // ordinal of its first row as the line gave it
  int32_t rows = 0;   // as the line gave it
  State state = State::kQueued;
  size_t step = 0;                  // the next one
  std::vector<ElementType> likes;   // by step: what functions gave
  Run run;                          // so far; when done, the result
  Run input;                        // to begin again with
  std::atomic<int32_t> row{0};      // that a call has come to
  std::atomic<bool> demand{false};  // a consumer waits for it: it takes memory without asking
  int64_t prepaid = 0;              // bytes asked for when it was admitted
  int64_t bytes = 0;                // known to be needed after it found no room
  int64_t taken = 0;                // rows of the result already given out
  std::shared_ptr<Slab> slab;
  int64_t slab_row = 0;
};

// A running line, span and window. Everything below `line` is guarded by the
// engine's lock.
struct Segment {
  Segment(Engine& engine_in, Instance& instance_in, const SegmentPlan& plan_in, int rank_in);

  Engine& engine;
  Instance& instance;
  const SegmentPlan& plan;
  const int rank;  // 0: the consumer's own; higher: further upstream
  std::unique_ptr<LineNode> line;

  std::deque<std::unique_ptr<Ticket>> window;
  std::map<int64_t, Ticket*> queued;
  bool line_busy = false;
  bool line_ended = false;
  bool closed = false;
  Segment* blocked_on = nullptr;
  int64_t issued = 0;   // rows given by the line
  int64_t popped = 0;   // rows that left the window, dropped ones too
  int64_t to_skip = 0;  // rows to drop after a restore
  int64_t lost = 0;     // rows a batch struck out: its hints shift by them
  int32_t running = 0;
  int64_t run_rows = 1;
  size_t capacity = 4;  // tickets in the window at most
  double ns_per_row = 0;
  double bytes_per_row = 0;
  std::vector<ElementType> likes;  // by step: what functions give, once the first is given out
  std::shared_ptr<Slab> slab;      // of the batch that is being issued
  int64_t slab_number = -1;
  struct Mark {
    int64_t out;   // rows that had left the window
    int64_t line;  // rows the line had given for them
  };
  std::deque<Mark> marks;  // only where a filter makes the two differ

  // For the tuner, since its last look.
  bool was_full = false;          // workers could have run further ahead
  bool drained = false;           // and later somebody wanted a row and none was there
  int64_t drained_ns = now_ns();  // when that was last noticed
  size_t least_done = SIZE_MAX;
  int64_t undeliverable = 0;  // done but behind the head, now

  void note_empty() { drained |= was_full && !line_ended; }
  // Small refills are not worth waking a worker for.
  bool wants_refill() const { return window.size() + std::max<size_t>(1, capacity / 8) <= capacity; }
  bool head_ready() const { return !window.empty() && window.front()->state == Ticket::State::kDone; }
  bool at_end() const { return line_ended && window.empty(); }

  Result<Json> cut(int64_t cursor) const;
  Result<void> restore(const Json& json);
  void prune(int64_t cursor, LineNode::Dropped& dropped);
  void keep_tuning() const;
};

// The segments of one graph while it runs: an iterator's own, or a child's.
struct Instance : std::enable_shared_from_this<Instance> {
  Engine* engine = nullptr;
  std::shared_ptr<const Plan> plan;
  const SegmentPlan* root_plan = nullptr;
  Passes passes;
  int64_t pass = 0;  // of a repeat: added to every pass below it
  MakeContext make;
  int rank_in_making = 0;  // of the segment whose line is being made
  std::string path;        // of the node that opened it
  std::vector<std::unique_ptr<Segment>> segments;
  Segment* root = nullptr;
  // Guarded by the engine's lock.
  bool closed = false;
  std::map<const LinePlan*, int64_t> begun;  // by repeat: passes so far, for a repeat around it

  Segment& add_segment(const SegmentPlan& plan, int rank);
};

struct SkippedElement {
  std::string origin;
  Error error;
};

struct EngineOptions {
  bool skip_errors = false;
  double skip_at_most = 1.0;
  double stall_warning_s = 30;
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
  // next call goes on. Safe from several threads.
  Result<std::optional<Element>> next();

  // Lets the workers begin before anybody asks.
  void begin();
  // Whether the last ticket is out: the next epoch may begin to fill.
  bool all_issued() const { return all_issued_.load(std::memory_order_relaxed); }
  // Called once, by whichever thread finds that out. To be set before begin().
  void on_all_issued(std::function<void()> call) { on_all_issued_ = std::move(call); }

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
  const Passes& passes() const { return root_->passes; }

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
  std::mutex& mutex() { return mutex_; }
  const std::atomic<bool>& stopped() const { return stopped_; }
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
  Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options);

  void release(std::unique_lock<std::mutex>& lock);
  void abandon(std::unique_lock<std::mutex>& lock);

  // Under the lock.
  void add_to_order(const Instance& instance);
  Piece pick(ThreadKind kind);
  Piece pick_demand(ThreadKind kind);
  bool may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const;
  bool calls_user(const Segment& segment, size_t from) const;
  bool line_may_run(const Segment& segment, ThreadKind kind) const;
  static bool line_ready(const Segment& segment);
  bool has_work() const;
  static size_t capacity_of(const Segment& segment);
  int count_waiter_work(int most) const;
  bool admit(Segment& segment, Ticket& ticket);
  bool admit_line(const Segment& segment);
  void start(Piece& piece);
  int64_t rows_for(const Segment& segment) const;
  int64_t tickets_for(const Segment& segment) const;
  Ticket* issue_all(Segment& segment, Run run);
  Ticket* issue(Segment& segment, Run run);
  void set_slab(Segment& segment, Ticket& ticket);
  void forget(Segment& segment, Ticket& ticket);
  static void settle_head(Segment& segment, Run& dropped);
  void learn(Segment& segment, int64_t ns, int32_t rows);
  void wake_consumer();
  void sample(Segment& segment);
  static void tune(Segment& segment, int64_t now);
  void reserve(int64_t element_bytes);
  static Json meter_json(const Meter& meter);
  std::string awaited() const;
  std::string origin_of(const Segment& segment, const Ticket& ticket) const;
  int64_t tell_after_ns() const { return static_cast<int64_t>(options_.stall_warning_s * 1e9); }

  // Without it.
  void run(Piece piece, ThreadKind kind);
  void run_line(Piece piece, ThreadKind kind);
  void run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind);
  void end_part(Segment& segment, Ticket& ticket, Task& task, int64_t ns, bool handed_on);
  static void note_waiting(Meter& meter, const ThreadTime& begun, int64_t took);
  Result<bool> refill();
  bool spin() const;
  Result<void> handle(const Failure& failure, const Origin& origin);
  void note_pass(const Origin& origin);

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<Meters> meters_;
  const EngineOptions options_;
  std::shared_ptr<Account> account_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> consumer_waiting_{false};
  std::atomic<bool> begun_{false};
  std::atomic<bool> all_issued_{false};
  std::atomic<bool> told_all_issued_{false};
  std::function<void()> on_all_issued_;
  std::atomic<int64_t> wait_ns_{0};

  std::mutex consumer_mutex_;  // one next() at a time
  Run current_;                // being given out row by row
  int32_t current_row_ = 0;
  int64_t delivered_rows_ = 0;
  std::atomic<int64_t> delivered_elements_{0};
  int64_t failures_ = 0;
  int64_t pops_ = 0;
  bool too_many_skipped_ = false;
  std::vector<int64_t> last_pass_;  // delivered, by source
  int64_t usual_wait_ns_ = 0;
  std::atomic<bool> result_ready_{false};

  mutable std::mutex mutex_;
  std::condition_variable consumer_wakes_;
  std::condition_variable piece_done_;
  std::shared_ptr<Instance> root_;
  std::vector<Segment*> order_;  // by rank
  int32_t running_ = 0;          // pieces
  std::vector<SkippedElement> skipped_;
  int64_t skipped_count_ = 0;
  int64_t reserved_ = 0;  // bytes of the budget: the largest element so far
  int64_t begun_ns_ = 0;
  int64_t last_tuned_ns_ = 0;
  int64_t waiting_since_ = 0;
  bool stall_told_ = false;
  bool consumer_asleep_ = false;
  bool released_ = false;
};

// Where messages go: the watchdog's, warnings. Standard error by default.
void set_message_sink(std::function<void(const std::string&)> sink);
void tell(const std::string& message);

}  // namespace stoker
