#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/runtime/line.h"
#include "stoker/runtime/plan.h"
#include "stoker/runtime/window.h"

namespace stoker {

class Engine;

inline constexpr int64_t kMostRunRows = 4096;

// How large the runs of a segment are, from the time and the memory that its rows have taken so far.
struct Pace {
  int64_t run_rows = 1;
  double ns_per_row = 0;  // 0: unknown, as for bytes_per_row
  double bytes_per_row = 0;

  void note_time(int64_t ns, int32_t rows);
  void note_bytes(int64_t bytes, int32_t rows);
};

// The capacity of a window, and what the tuner has observed since it last ran.
struct Tuning {
  size_t capacity = 4;            // maximum number of tickets in the window
  bool was_full = false;          // more could have been prefetched
  bool drained = false;           // and later a row was requested and none was available
  int64_t drained_ns = now_ns();  // the last time of that
  int64_t tuned_ns = drained_ns;  // the last time the tuner ran
  size_t least_done = SIZE_MAX;
  int64_t undeliverable = 0;  // results that wait for the head of the window
};

// Where a segment is in the schedule of its engine.
struct ScheduleState {
  int64_t number = 0;  // the order of segments of one rank
  bool listed_for_workers = false;
  bool listed_for_waiters = false;
  bool waiter_called = false;  // a waiting thread was requested for the line and has not arrived
};

// A running line, span and window. The engine's lock guards the members after `line`.
struct Segment {
  Segment(Engine& engine_in, Instance& instance_in, const SegmentPlan& plan_in, int rank_in);

  Engine& engine;
  Instance& instance;
  const SegmentPlan& plan;
  const int rank;  // 0: the segment that the consumer reads; higher: further upstream
  // Pulled without the lock, by the thread that has set line_busy. Its log is accessed under the lock.
  std::unique_ptr<LineNode> line;
  bool line_failed = false;  // it threw an exception; set by the thread that pulls it
  bool skips_rows = false;   // after a restore; set before the engine starts

  Window window STOKER_GUARDED_BY(engine_lock);
  Pace pace STOKER_GUARDED_BY(engine_lock);
  Tuning tuning STOKER_GUARDED_BY(engine_lock);
  ScheduleState scheduled STOKER_GUARDED_BY(engine_lock);
  bool line_busy STOKER_GUARDED_BY(engine_lock) = false;
  bool line_ended STOKER_GUARDED_BY(engine_lock) = false;
  bool closed STOKER_GUARDED_BY(engine_lock) = false;
  int32_t running STOKER_GUARDED_BY(engine_lock) = 0;  // tickets
  Segment* blocked_on STOKER_GUARDED_BY(engine_lock) = nullptr;
  Segment* feeds STOKER_GUARDED_BY(engine_lock) = nullptr;  // the segment whose line was last blocked on this one

  bool head_ready() const STOKER_REQUIRES(engine_lock) { return window.head_ready(); }
  bool at_end() const STOKER_REQUIRES(engine_lock) { return line_ended && window.empty(); }
  // Whether the line can be pulled now.
  bool line_ready() const STOKER_REQUIRES(engine_lock);
  // A worker is not woken for a few rows. A worker that is running finds the new work without a wakeup.
  bool needs_refill() const STOKER_REQUIRES(engine_lock);
  // The number of rows in the next run, and the number of runs for which the line is pulled at once.
  int64_t rows_per_run() const STOKER_REQUIRES(engine_lock);
  int64_t runs_per_pull() const STOKER_REQUIRES(engine_lock);
  // The least value of tuning.capacity: what `prefetch` requests, up to a million.
  size_t least_capacity() const;
  // The maximum number of tickets at present: more than tuning.capacity while the head is slow.
  size_t capacity_now() const STOKER_REQUIRES(engine_lock);
  bool has_space() const STOKER_REQUIRES(engine_lock) { return window.size() < capacity_now(); }
  // Whether the window has space for enough rows to wake a thread for them.
  bool has_space_to_wake_for() const STOKER_REQUIRES(engine_lock);
  bool calls_user(size_t from_step) const;
  bool has_waiting_step() const;
  // The meter of the stage that the line waits for: its source, if the source is part of this line.
  Meter* line_meter() const;

  // Divides the rows from the line into tickets. Returns the first one, or null if the segment has no steps.
  Ticket* issue(Pulled pulled) STOKER_REQUIRES(engine_lock);

  // For the tuner: a row was requested and none is available; the line could be pulled and the window is full.
  void note_empty() STOKER_REQUIRES(engine_lock) { tuning.drained |= tuning.was_full && !line_ended; }
  void note_full() STOKER_REQUIRES(engine_lock);
  // Keeps the measured values for the next iterator.
  void keep_tuning() const STOKER_REQUIRES(engine_lock);

  Result<Json> cut(int64_t cursor, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock);
  Result<void> restore(const Json& json);
  void prune(int64_t cursor, LineNode::Dropped& dropped) STOKER_REQUIRES(engine_lock);

 private:
  Ticket* issue_one(Run run) STOKER_REQUIRES(engine_lock);
  size_t capacity_with(size_t enough_queued) const STOKER_REQUIRES(engine_lock);
};

// The segments of one running graph: that of an iterator, or of an opened dataset.
struct Instance : std::enable_shared_from_this<Instance> {
  Engine* engine = nullptr;
  std::shared_ptr<const Plan> plan;
  Passes passes;
  int64_t pass = 0;  // of a repeat: added to every pass upstream
  MakeContext make;
  int rank_in_making = 0;  // of the segment whose line is being created
  std::string path;        // of the node that opened it
  std::vector<std::unique_ptr<Segment>> segments;
  Segment* root = nullptr;
  bool closed STOKER_GUARDED_BY(engine_lock) = false;

  Segment& add_segment(const SegmentPlan& plan, int rank);
  bool is_child() const { return root->rank > 0; }
};

}  // namespace stoker
