#pragma once

#include <atomic>
#include <compare>
#include <memory>
#include <set>

#include "stoker/runtime/segment.h"

namespace stoker {

// Which threads may run a piece of work.
enum class ThreadKind { kWorker, kWaiter, kConsumer };

// The smallest unit of work that a thread takes: the next steps of a ticket, or one pull of a line.
struct Piece {
  Segment* segment = nullptr;
  Ticket* ticket = nullptr;  // null: the line
  int64_t most = 1;          // rows to pull
  int64_t first = 0;         // the ordinal of the first of these
  bool demand = false;
  std::shared_ptr<Instance> alive;  // a child may be closed while its piece runs
  explicit operator bool() const { return segment != nullptr; }
};

// What threads read about an engine without its lock.
struct EngineFlags {
  std::atomic<bool> stopped{false};           // no more work starts
  std::atomic<bool> consumer_waiting{false};  // the path of the consumer comes first
  std::atomic<bool> all_started{false};       // the last piece of work has started
};

// The open segments of an engine, in order. Chooses the next piece, and counts the pieces in progress.
//
// The engine's lock guards a schedule and the segments that are in it.
class Schedule {
 public:
  // The position of a segment: downstream first; for one rank, the oldest first.
  struct Place {
    int rank = 0;
    int64_t number = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct InOrder {
    using is_transparent = void;
    bool operator()(const Segment* a, const Segment* b) const { return place_of(*a) < place_of(*b); }
    bool operator()(const Place& a, const Segment* b) const { return a < place_of(*b); }
    bool operator()(const Segment* a, const Place& b) const { return place_of(*a) < b; }
  };
  using Segments = std::set<Segment*, InOrder, RecycledAllocator<Segment*>>;
  // The number of a segment does not change while it is in a schedule.
  static Place place_of(const Segment& segment) STOKER_ANNOTATION(no_thread_safety_analysis) {
    return {segment.rank, segment.scheduled.number};
  }

  // `alone`: the consumer's thread does all work. The flags must outlive the schedule.
  Schedule(EngineFlags& flags, bool alone) : flags_(flags), alone_(alone) {}

  void add(const Instance& instance) STOKER_REQUIRES(engine_lock);
  void remove(Segment& segment) STOKER_REQUIRES(engine_lock);
  // Must be called before segments are destroyed: removing a segment compares it with others.
  void clear();
  const Segments& segments() const { return order_; }

  // Returns the next piece for this kind of thread and counts it as running. If a consumer waits, `awaited` is the
  // segment that it reads; otherwise null.
  Piece pick(ThreadKind kind, Segment* awaited) STOKER_REQUIRES(engine_lock);
  // Follows the path that the consumer waits for, from the last segment upstream, and returns its next piece.
  Piece pick_demand(ThreadKind kind, Segment& awaited) STOKER_REQUIRES(engine_lock);
  // Continues a pull of a line with the first ticket that it issued, as the same piece. Returns whether it may run.
  bool continue_with(const Piece& pulled, Ticket& issued, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  // Continues a ticket with its next step. Returns false if the step needs another kind of thread, its turn, or a free
  // call.
  bool continue_step(Segment& segment, Ticket& ticket, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  // The pull of a line has ended.
  void end_pull(Segment& segment, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  void end_line(Segment& segment) STOKER_REQUIRES(engine_lock);
  void end_piece() { --running_; }
  int32_t running() const { return running_; }  // pieces in progress

  // Lists a segment that may have work again: its window has space, or its line or a ticket can run.
  void note_work(Segment& segment) STOKER_REQUIRES(engine_lock);
  // A segment has a result or ended: lists the segment that waits for it.
  void note_result(const Segment& segment) STOKER_REQUIRES(engine_lock);
  // Returns whether a worker or a waiting thread may find work here. This does not check whether the budget admits it.
  // A worker that finds no work for itself requests waiting threads.
  bool has_work() STOKER_REQUIRES(engine_lock);
  // The number of pieces, up to `most`, for which a waiting thread has to be woken. A line requests one thread once.
  int call_waiters(int most) STOKER_REQUIRES(engine_lock);
  // The same, and requests threads again for lines whose requested thread did not arrive.
  int call_waiters_again(int most) STOKER_REQUIRES(engine_lock);
  // Without workers, the consumer runs all work itself.
  bool is_alone() const;

 private:
  Piece pick_in(Segment& segment, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  Piece started(Piece piece, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  void start_ticket(Segment& segment, Ticket& ticket, bool demand) STOKER_REQUIRES(engine_lock);
  void note_started(const Segment& segment) STOKER_REQUIRES(engine_lock);
  bool may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const STOKER_REQUIRES(engine_lock);
  bool line_may_run(const Segment& segment, ThreadKind kind) const;
  static bool admit(const Segment& segment, Ticket& ticket) STOKER_REQUIRES(engine_lock);
  static bool admit_line(const Segment& segment) STOKER_REQUIRES(engine_lock);
  static bool has_work_for(const Segment& segment, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  bool has_work_in(Segments& listed, ThreadKind kind) STOKER_REQUIRES(engine_lock);
  static int waiting_tickets(const Segment& segment, int most) STOKER_REQUIRES(engine_lock);
  Segments::iterator drop(Segments& listed, Segments::iterator at) STOKER_REQUIRES(engine_lock);

  EngineFlags& flags_;
  const bool alone_;
  Segments order_;  // all open segments
  int64_t numbered_ = 0;
  // The segments of order_ that may have a piece for workers, and for waiting threads. An iterator may have thousands
  // of open datasets, of which few have work. note_work() adds a segment; a segment in which no work is found is
  // removed.
  Segments for_workers_;
  Segments for_waiters_;
  int32_t running_ = 0;
  int32_t waiting_lines_ = 0;  // lines that run on waiting threads
};

}  // namespace stoker
