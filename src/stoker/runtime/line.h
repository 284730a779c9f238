#pragma once

#include <any>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/runtime/plan.h"

namespace stoker {

class Engine;
struct Instance;
struct Segment;

// What a line gives when it is asked for more: rows, the end, or the segment
// whose next result it needs first.
struct Pulled {
  enum class Kind { kRun, kEnd, kBlocked };
  Kind kind = Kind::kEnd;
  Run run;
  Segment* on = nullptr;
  // The rows are failures to report, in addition to those that are due: on the way
  // to a restored place they were found, and no place is theirs.
  bool extra = false;

  static Pulled of(Run run) { return {Kind::kRun, std::move(run), nullptr}; }
  static Pulled end() { return {}; }
  static Pulled blocked(Segment* on) { return {Kind::kBlocked, {}, on}; }
  static Pulled extras(Run run) { return {Kind::kRun, std::move(run), nullptr, true}; }
};

// One place of a running line. It never waits: a pull that cannot go on says
// on what, having lost nothing, and is asked again later.
//
// Pulled by one thread at a time, without the engine's lock. The log, from
// which checkpoints are cut, is touched under that lock alone.
class LineNode {
 public:
  LineNode(const LinePlan& plan, Instance& instance);
  virtual ~LineNode() = default;
  LineNode(const LineNode&) = delete;
  LineNode& operator=(const LineNode&) = delete;

  // At most so many rows; `most` >= 1.
  Pulled pull(int64_t most);
  // Rows given so far, extra ones too; rows skipped when restored do not count.
  int64_t out() const { return out_; }

  // The state as of `cursor` rows given.
  virtual Result<Json> cut(int64_t cursor) const;
  virtual Result<void> restore(const Json& cut);
  // Nobody will ask for a cut before `cursor` any more. Under the engine's
  // lock; what it lets go of may be the last to hold a child, which closes
  // itself under that lock, and so is freed behind it.
  using Dropped = std::vector<std::any>;
  virtual void prune(int64_t cursor, Dropped& dropped);
  // A batch struck rows out: where this is a window, its hints shift.
  virtual void note_lost(int64_t) {}

 protected:
  struct Entry {
    int64_t out = 0;
    std::any state;
    Numbers cursors;  // of the inputs
  };

  // While skipping(), nobody looks at the rows: their number and their failures count.
  virtual Pulled produce(int64_t most) = 0;
  // The live state as an entry; asked between two outputs.
  virtual Entry snapshot() const { return {out_, {}, cursors()}; }
  virtual Result<Json> entry_json(const Entry&) const { return Json::dict(); }
  // The state of one that was never pulled, where it is more than its plan says.
  virtual Json unpulled() const { return {}; }
  virtual Result<void> restore_state(const Json&) { return {}; }
  // What an entry refers to beside the inputs: children it had open.
  virtual void prune_entry(const Entry&, Dropped&) {}

  // Writes an entry where one is due. Call it between two outputs, with
  // nothing pending. A large state is written more rarely, in proportion.
  void log_if_due(int64_t state_bytes = 0);
  bool log_is_due(int64_t state_bytes) const;
  void log_now();
  Numbers cursors() const;
  bool skipping() const { return skip_ > 0; }

  const LinePlan& plan_;
  Instance& instance_;
  const int rank_;  // of the segment this line belongs to
  std::vector<std::unique_ptr<LineNode>> inputs_;

 private:
  void thin_out(Dropped& dropped);
  // Drops the rows before a restored position; what comes instead of them, if anything.
  [[gnu::noinline]] std::optional<Pulled> skip_rows();
  [[gnu::noinline]] Pulled give_extras(Run run);
  // Rows given in [from, to) that will not come again after a restore.
  int64_t extras_in(int64_t from, int64_t to) const;

  int64_t out_ = 0;
  int64_t skip_ = 0;  // rows to drop after a restore
  int64_t pulls_since_entry_ = 0;
  int64_t entry_ns_ = 0;  // when the last one was written
  int64_t rareness_ = 1;  // doubled when the log grows long
  bool logged_ = false;   // the puller's own: the log itself is the lock's
  std::deque<Entry, RecycledAllocator<Entry>> log_;
  bool front_pruned_ = false;    // all that the first entry refers to was pruned to it
  std::vector<int64_t> extras_;  // which rows these were; under the engine's lock, as the log
};

// How often lines write entries: after so many pulls and so long, whichever is
// later. Restoring does again what lies between an entry and the cut, so the
// pace is one of time: a line of pictures writes one for each, one of numbers
// one for thousands. A shuffle of names writes its buffer out only after so
// many draws: replaying one costs some 10 ns, and up to 0.2 s of that beats the
// bytes. No result depends on the pace, and tests choose their own.
struct LogPace {
  int64_t pulls = 1;
  int64_t ns = 1'000'000;
  int64_t draws = 20'000'000;
};
void set_log_pace(LogPace pace);
LogPace log_pace();

std::unique_ptr<LineNode> make_line(const LinePlan& plan, Instance& instance, int64_t pass);

}  // namespace stoker
