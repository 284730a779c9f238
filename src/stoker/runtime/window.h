#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "stoker/runtime/engine_lock.h"
#include "stoker/runtime/output_errors.h"
#include "stoker/runtime/plan.h"

namespace stoker {

class Slab;

inline constexpr size_t kMostTickets = 4096;

// A run that goes through the steps of a segment, and its place in the window.
//
// While `state` is kRunning, the thread that runs the ticket uses the other members without the lock. It writes `step`
// only under the lock. Otherwise, the engine's lock guards all members. `first` and `rows` do not change after issue().
struct Ticket {
  enum class State { kQueued, kRunning, kDone };

  // The members that the consumer reads are on one cache line. The others are used by the worker.
  State state STOKER_GUARDED_BY(engine_lock) = State::kQueued;
  bool settled STOKER_GUARDED_BY(engine_lock) = false;  // the result has the types of the segment's results
  int64_t first = 0;                                    // ordinal of its first row in the line
  int32_t rows = 0;                                     // from the line
  int64_t taken STOKER_GUARDED_BY(engine_lock) = 0;     // rows of the result that were delivered
  std::shared_ptr<Slab> slab;
  Run run;                                           // the current state of the rows; when done, the result
  Run input;                                         // to start again with
  size_t step = 0;                                   // the next step
  size_t first_step = 0;                             // where it starts again: after the last call not to be repeated
  std::vector<ElementType> result_types;             // by step: the types of the results
  std::atomic<int32_t> row{0};                       // the current row of a call
  std::atomic<bool> demand{false};                   // a consumer waits for it: it takes memory without a request
  std::atomic<bool> counts{false};                   // its call is counted in the meter of its step
  int64_t prepaid = 0;                               // bytes requested when it was admitted
  int64_t bytes STOKER_GUARDED_BY(engine_lock) = 0;  // needed, if memory was refused before
  int64_t slab_row = 0;

  void clear() STOKER_REQUIRES(engine_lock);
  // Moves the result to `dropped`. The ticket is computed again.
  void begin_again(Runs& dropped) STOKER_REQUIRES(engine_lock);

 private:
  void reset_state() STOKER_REQUIRES(engine_lock);
};

// The tickets of a segment: restores the order of the line between the threads that run tickets and the reader.
//
// A ticket is queued when it is issued, runs, and is done. The reader takes rows from the head, which is the first
// ticket. Functions that drop results move them into a parameter, because freeing them may acquire other locks: the
// caller frees them after it released the engine's lock.
class Window {
 public:
  using Tickets = std::deque<std::unique_ptr<Ticket>, RecycledAllocator<std::unique_ptr<Ticket>>>;
  using Queued = std::map<int64_t, Ticket*, std::less<>, RecycledAllocator<std::pair<const int64_t, Ticket*>>>;
  // What is left of a head after its rows were taken.
  struct Leftovers {
    Runs runs;
    RecycledVector<std::shared_ptr<Slab>> slabs;
  };

  explicit Window(const SegmentPlan& plan);

  const Tickets& tickets() const { return tickets_; }
  const Queued& queued() const { return queued_; }
  size_t size() const { return tickets_.size(); }
  bool empty() const { return tickets_.empty(); }
  Ticket& head() const { return *tickets_.front(); }
  bool head_ready() const STOKER_REQUIRES(engine_lock) {
    return !tickets_.empty() && tickets_.front()->state == Ticket::State::kDone;
  }
  int64_t issued() const { return issued_; }  // rows from the line
  bool was_read() const { return popped_ > 0; }
  // The number of rows in the batch that is being issued. 0 without a batch.
  int64_t rows_in_batch() const;
  // Whether a serial step has been passed by all tickets before this one.
  bool is_turn_of(const Ticket& ticket) const { return ticket.first <= turns_[ticket.step]; }

  // Adds a ticket for the next rows of the line. Returns null if there are no steps: the ticket is then done.
  Ticket* issue(Run run) STOKER_REQUIRES(engine_lock);
  void start(Ticket& ticket) STOKER_REQUIRES(engine_lock);
  // The running ticket has passed a step and continues with the next one.
  void advance(Ticket& ticket) STOKER_REQUIRES(engine_lock);
  // The running ticket needs another thread for its next step.
  void requeue(Ticket& ticket) STOKER_REQUIRES(engine_lock);
  // The running ticket has passed all of its steps.
  void finish(Ticket& ticket, Runs& dropped) STOKER_REQUIRES(engine_lock);
  // The ticket is computed again.
  void run_again(Ticket& ticket, Runs& dropped) STOKER_REQUIRES(engine_lock);
  // Removes a ticket.
  void drop(Ticket& ticket, Runs& dropped);
  // Removes the tickets that do not run. The thread that runs a ticket drops it.
  void drop_idle(std::vector<std::unique_ptr<Ticket>>& dropped) STOKER_REQUIRES(engine_lock);
  void forget_queued() { queued_.clear(); }

  // Adds an error that stands for the rows that are missing if the line has ended and rows to skip remain. take() drops
  // it if none remain.
  Ticket* issue_end(Run error) STOKER_REQUIRES(engine_lock);

  // Takes up to `most` rows of the head. Returns an empty run if the head is not done.
  Run take(int64_t most, Leftovers& left) STOKER_REQUIRES(engine_lock);
  // Drops results that can be computed again, the last ones first, until `bytes` are freed. Returns the number of
  // bytes.
  int64_t reclaim(int64_t bytes, Runs& dropped) STOKER_REQUIRES(engine_lock);

  // A batch downstream lost rows because they failed. The rows that follow get other positions in their batches.
  void note_lost(int64_t rows);
  std::shared_ptr<Slab> take_slab() { return std::move(slab_); }

  // For checkpoints: a number of rows that had left the window, the row of the line with which the next ticket began,
  // and the number of its rows to skip from there. Rows and line rows differ only if a step filters.
  struct Mark {
    int64_t out;
    int64_t line;
    int64_t skip;
  };
  Mark mark_at(int64_t cursor) const;
  // Drops marks that only cuts before `cursor` need. Returns the first that is left.
  Mark prune(int64_t cursor);
  // The number of elements to skip from a mark to the cursor. Extra errors are not elements.
  int64_t elements_to_skip(const Mark& mark, int64_t cursor) const;
  // The types of the results of the steps that run user code: those of the first results. Null where they are unknown.
  Json types_to_json() const;
  Result<void> set_types(const Json& types);
  // Whether an error that ends the input is among the rows that left the window before `cursor`.
  bool has_ended(int64_t cursor) const { return may_end_ || errors_.has_ended_before(cursor); }
  // Drops the first rows, which were delivered before a restore. `may_end`: an error that ends the input may be among
  // them. Otherwise, such an error is returned.
  void skip_first(int64_t rows, bool may_end);

 private:
  std::unique_ptr<Ticket> new_ticket() STOKER_REQUIRES(engine_lock);
  void set_slab(Ticket& ticket);
  void drop_slab();
  void pass_turns(const Ticket& ticket, size_t end);
  void refresh_result_types(Ticket& ticket) const;
  bool has_known_types(const Ticket& ticket) const;
  void settle(Ticket& ticket, Runs& dropped) const STOKER_REQUIRES(engine_lock);
  void settle_head(Runs& dropped) STOKER_REQUIRES(engine_lock);
  int64_t rows_to_skip(const Ticket& ticket) const STOKER_REQUIRES(engine_lock);
  bool drops_end(const Ticket& ticket) const { return ticket.first == end_ && (to_skip_ == 0 || input_failed_); }
  void return_error(Ticket& ticket) STOKER_REQUIRES(engine_lock);
  void pop_head(Leftovers& left) STOKER_REQUIRES(engine_lock);
  bool can_recompute() const;

  const SegmentPlan& plan_;
  Tickets tickets_;
  // Tickets to be used again, without their large members. Workers allocate tickets and the consumer would free them,
  // which costs it the locks of the allocator.
  std::vector<std::unique_ptr<Ticket>> spare_;
  Queued queued_;  // by their first row
  int64_t issued_ = 0;
  int64_t popped_ = 0;                     // rows that take() has returned
  int64_t to_skip_ = 0;                    // rows to drop after a restore
  int64_t lost_ = 0;                       // failed rows that a batch skipped; later rows move by as many
  std::vector<ElementType> result_types_;  // by step: the types of the results, after the first delivery
  std::vector<int64_t> turns_;             // by step: the ordinal of the next row, if calls are in order
  std::shared_ptr<Slab> slab_;             // of the batch that is being issued
  int64_t slab_number_ = -1;
  std::deque<Mark> marks_;  // only if a step filters
  OutputErrors errors_;     // of the rows that left the window
  int64_t end_ = -1;        // the first row of the ticket of issue_end()
  bool may_end_ = false;
  bool input_failed_ = false;  // an error was returned instead of rows to skip
};

bool has_serial_step(const SegmentPlan& plan, size_t from = 0);

}  // namespace stoker
