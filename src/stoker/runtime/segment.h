#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/runtime/line.h"
#include "stoker/runtime/plan.h"

namespace stoker {

class Engine;
class Slab;

// A run is as long as makes some 100 µs of work.
inline constexpr double kRunNs = 100'000;
inline constexpr int64_t kMostRunRows = 4096;
inline constexpr size_t kMostTickets = 4096;
inline constexpr size_t kMostSpare = 64;

// A run on its way through a span, at its place in the window.
struct Ticket {
  enum class State { kQueued, kRunning, kDone };

  // What the consumer reads stands together: the rest stays with the worker.
  State state = State::kQueued;
  bool settled = false;  // gave what functions of its segment give
  int64_t first = 0;     // ordinal of its first row as the line gave it
  int32_t rows = 0;      // as the line gave it
  int64_t taken = 0;     // rows of the result already given out
  std::shared_ptr<Slab> slab;
  Run run;                          // so far; when done, the result
  Run input;                        // to begin again with
  size_t step = 0;                  // the next one
  size_t first_step = 0;            // where it begins again: after the last call that must not be repeated
  std::vector<ElementType> likes;   // by step: what functions gave
  std::atomic<int32_t> row{0};      // that a call has come to
  std::atomic<bool> demand{false};  // a consumer waits for it: it takes memory without asking
  std::atomic<bool> counts{false};  // its call is among those of its step's meter
  int64_t prepaid = 0;              // bytes asked for when it was admitted
  int64_t bytes = 0;                // known to be needed after it found no room
  int64_t slab_row = 0;

  void clear();
  void begin_again();
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

  std::deque<std::unique_ptr<Ticket>, RecycledAllocator<std::unique_ptr<Ticket>>> window;
  std::vector<std::unique_ptr<Ticket>> spare;  // for those to come
  std::map<int64_t, Ticket*, std::less<>, RecycledAllocator<std::pair<const int64_t, Ticket*>>> queued;
  bool line_busy = false;
  bool waiter_called = false;  // for the line, and has not come yet
  bool line_ended = false;
  bool closed = false;
  Segment* blocked_on = nullptr;
  Segment* feeds = nullptr;  // whose line was last blocked on this one
  int64_t number = 0;        // among all of the engine: the order of those of one rank
  bool listed_for_workers = false;
  bool listed_for_waiters = false;
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
  std::vector<int64_t> turns;      // by step: the ordinal of the row whose call is next, where calls are in order
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
  // Small refills are not worth waking a worker for; one who is at work comes by
  // himself when he is done.
  bool wants_refill() const {
    const size_t room = running > 0 || line_busy ? capacity / 2 : capacity / 8;
    return window.size() + std::max<size_t>(1, room) <= capacity;
  }
  bool head_ready() const { return !window.empty() && window.front()->state == Ticket::State::kDone; }
  bool at_end() const { return line_ended && window.empty(); }

  Result<Json> cut(int64_t cursor) const;
  Result<void> restore(const Json& json);
  void prune(int64_t cursor, LineNode::Dropped& dropped);
  void keep_tuning() const;
  std::unique_ptr<Ticket> new_ticket();
  // One that holds nothing large any more. Made by workers and freed by the
  // consumer, each would cost him the locks of their memory.
  void keep_spare(std::unique_ptr<Ticket> ticket);
  // The stage that the line waits for: the source at its end, where that is its own.
  Meter* line_meter() const;
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

}  // namespace stoker
