#pragma once

#include <any>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/runtime/deferred_parts.h"
#include "stoker/runtime/engine_lock.h"
#include "stoker/runtime/output_errors.h"
#include "stoker/runtime/plan.h"

namespace stoker {

class Engine;
struct Instance;
struct Segment;

// The result of a pull: rows, the end, or the segment whose next result the line needs first.
struct Pulled {
  enum class Kind { kRun, kEnd, kBlocked };
  Kind kind = Kind::kEnd;
  Run run;
  Segment* on = nullptr;
  // The run is one error, which the window returns only if it still has rows to skip (Window::issue_end).
  bool is_end_error = false;

  static Pulled of(Run run) { return {Kind::kRun, std::move(run), nullptr}; }
  static Pulled end() { return {}; }
  static Pulled blocked(Segment* on) { return {Kind::kBlocked, {}, on}; }
  static Pulled end_error(Run error) { return {Kind::kRun, std::move(error), nullptr, true}; }
};

// The rows that are extra errors (see Error).
Run extra_errors(const Run& run);

// A running node of a line. A pull never waits: if it cannot continue, it returns the segment on which it is blocked,
// keeps its state, and is called again later.
//
// One thread at a time pulls, without the engine's lock. The log for checkpoints is accessed only under that lock.
class LineNode {
 public:
  LineNode(const LinePlan& plan, Instance& instance);
  virtual ~LineNode() = default;
  LineNode(const LineNode&) = delete;
  LineNode& operator=(const LineNode&) = delete;

  // Returns at most `most` rows; `most` is at least 1.
  Pulled pull(int64_t most);
  // The number of rows returned so far, with extra errors, without rows skipped after a restore.
  int64_t out() const { return out_; }

  // The state after `cursor` rows. Everything that calls a stage is deferred, because the lock is held.
  virtual Result<Json> cut(int64_t cursor, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock);
  virtual Result<void> restore(const Json& cut);
  // Drops what only cuts before `cursor` need. The objects that are dropped may own opened datasets, which acquire the
  // lock when they close, so the caller frees them after it released the lock.
  using Dropped = std::vector<std::any>;
  virtual void prune(int64_t cursor, Dropped& dropped) STOKER_REQUIRES(engine_lock);
  // The input has ended, and elements up to a restored position are missing. Returns the error for this, or nothing if
  // an error was returned among these elements.
  std::optional<Run> ended_early();
  // A batch lost rows because they failed. If this is a window, its rows move to other positions of their batches.
  virtual void note_lost(int64_t) {}

 protected:
  struct Entry {
    int64_t out = 0;
    std::any state;
    Numbers cursors;  // of the inputs
  };

  // While skipping(), only the number of rows and their failures are used.
  virtual Pulled produce(int64_t most) = 0;
  // The current state as an entry. Called between two outputs.
  virtual Entry snapshot() const { return {out_, {}, cursors()}; }
  virtual Result<Json> entry_json(const Entry&, DeferredParts&) const STOKER_REQUIRES(engine_lock) {
    return Json::dict();
  }
  // The state before the first pull, if the plan does not determine it.
  virtual Json unpulled() const { return {}; }
  virtual Result<void> restore_state(const Json&) { return {}; }
  // Prunes the opened datasets to which an entry refers.
  virtual void prune_entry(const Entry&, Dropped&) STOKER_REQUIRES(engine_lock) {}

  // Writes an entry if one is due. Call it between two outputs, with nothing pending. A large state is written less
  // often, in proportion to its size.
  void log_if_due(int64_t state_bytes = 0);
  bool log_is_due(int64_t state_bytes) const;
  void log_now();
  Numbers cursors() const;
  bool skipping() const { return skip_ > 0; }
  // The number of extra errors among the rows [from, to).
  int64_t extras_in(int64_t from, int64_t to) const STOKER_REQUIRES(engine_lock) { return errors_.extras_in(from, to); }
  // Whether an error that ends the input is among the rows before `cursor`.
  bool has_ended(int64_t cursor) const STOKER_REQUIRES(engine_lock) {
    return may_end_ || errors_.has_ended_before(cursor);
  }
  void set_may_end(const Json& cut);
  // Whether an error of skipped rows must be returned.
  bool is_returned(const Error& error) const { return is_unexpected(error, may_end_); }
  // Returns these errors as extra errors.
  Run unexpected_errors(const Run& skipped);

  Instance& instance_;
  const int rank_;  // of the segment that this line belongs to
  std::vector<std::unique_ptr<LineNode>> inputs_;

 private:
  void thin_out(Dropped& dropped) STOKER_REQUIRES(engine_lock);
  // Drops the rows before a restored position. Returns what must be returned first, if anything.
  [[gnu::noinline]] std::optional<Pulled> skip_rows();
  [[gnu::noinline]] void note_errors(const Run& run);

  const LinePlan& line_plan_;
  int64_t out_ = 0;
  int64_t skip_ = 0;           // rows to drop after a restore
  bool may_end_ = false;       // the restored position is after an error that ends the input
  bool input_failed_ = false;  // an unexpected error was returned
  int64_t pulls_since_entry_ = 0;
  int64_t entry_ns_ = 0;  // when the last one was written
  int64_t rareness_ = 1;  // doubled when the log becomes long
  bool logged_ = false;   // there is an entry; used by the pulling thread
  std::deque<Entry, RecycledAllocator<Entry>> log_ STOKER_GUARDED_BY(engine_lock);
  // Everything that the first entry refers to was pruned.
  bool front_pruned_ STOKER_GUARDED_BY(engine_lock) = false;
  OutputErrors errors_ STOKER_GUARDED_BY(engine_lock);
};

// How often lines write entries: after this many pulls and this much time, whichever is later. Restoring repeats the
// work between an entry and the cut, so the pace depends on time: a line of images writes an entry for each image, a
// line of numbers one for thousands. A shuffle of positions writes its buffer only after this many draws: replaying a
// draw takes about 10 ns, and up to 0.2 s of replaying costs less than the bytes. No result depends on the pace. Tests
// set their own.
struct LogPace {
  int64_t pulls = 1;
  int64_t ns = 1'000'000;
  int64_t draws = 20'000'000;
};
void set_log_pace(LogPace pace);
LogPace log_pace();

}  // namespace stoker
