#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/api/restarts.h"
#include "stoker/core/error.h"
#include "stoker/core/mutex.h"
#include "stoker/diagnose/verdict.h"
#include "stoker/runtime/loader_stats.h"
#include "stoker/watch/finite.h"
#include "stoker/watch/stage_facts.h"

namespace stoker {

struct WatchOptions {
  // Times are evaluated per interval, which has at least this length and this many
  // steps.
  double window_seconds = 10;
  int64_t window_steps = 50;
  std::optional<int64_t> steps;  // number of steps per epoch that the loop will take
  double silence_seconds = 30;   // time without a first batch before this is reported
  bool python = false;           // user functions are Python functions
  // Receives the messages; empty: they go to the message sink of the process. Called
  // on the thread that called the watch, with no lock of the watch held.
  std::function<void(const std::string&)> on_message;
  std::function<int64_t()> clock;  // nanoseconds; empty: the monotonic clock
};

// What is known about the data before the first batch.
struct Supply {
  std::string source;                  // "list_files (train.cc:12)"
  std::optional<int64_t> batches;      // per epoch
  std::optional<int> workers;          // that prefetch batches; 0: the training thread produces them
  std::shared_ptr<Restarts> restarts;  // counted by the loader; null: counted by the recorder
  std::string begun_at;                // where the first epoch was started: "train.cc:41"

  static Supply of(const Dataset& dataset);
};

// Collects measurements of a training loop and its input, evaluates them, and
// reports new findings: nothing while the input keeps up, and the same finding at
// most once in ten minutes.
//
// For each step, the loop calls ask(), then give(), end() or fail(). The first
// three steps, and the first step of each epoch, are start-up and are not counted.
// All members are safe from several threads.
class Recorder {
 public:
  Recorder(WatchOptions options, Supply supply);

  void begin_epoch(std::string written_at);
  // The loop requests a batch. Returns the time, to be passed to give().
  int64_t ask();
  // The loop received a batch.
  void give(int64_t asked);
  // The epoch has ended.
  void end();
  // An element failed. `message` is the error message without the path.
  void fail(std::string message, std::string path);

  // True if the values of the last batch should be checked: every batch of the
  // first interval, later as many as take less than 0.5 % of the time.
  bool wants_values() const;
  void note_values(const std::vector<NonFinite>& found, int64_t looked_since);
  int64_t now() const { return clock_(); }

  // True if start-up or an interval has ended. The caller then calls look() with
  // Loader::stats(), or with empty ones if there is no loader.
  bool is_due() const;
  void look(const LoaderStats& stats);
  // Stores the counters for report() without an evaluation, before the loader drops them.
  void note_stats(const LoaderStats& stats);
  // Called while the loop waits for a batch. The recorder sets `silence.seconds`;
  // the caller sets the other fields if it can measure them.
  void look_while_waiting(const LoaderStats& stats, SilenceFacts silence = {});
  void note_skipped(int64_t skipped, std::string first, std::string path);

  // True if the caller should measure how long a thread waits for the interpreter
  // lock: if a Python stage may be slow, and at most every ten intervals.
  bool wants_probe() const;
  void note_probe(double median_seconds);

  // These cover the whole run so far. `stats` as in look().
  std::vector<Verdict> verdicts(const LoaderStats& stats);
  std::string report(const LoaderStats& stats);
  Json to_json(const LoaderStats& stats);

 private:
  struct Times {
    int64_t steps = 0;
    int64_t ns = 0;
    int64_t wait_ns = 0;
  };
  struct Seen {
    LoaderStats stats;
    int64_t at_ns = 0;
    int64_t batches = 0;
  };
  using Messages = std::vector<std::string>;  // messages to report

  void add_non_finite(const NonFinite& bad) STOKER_REQUIRES(mutex_);
  bool interval_is_over() const STOKER_REQUIRES(mutex_);
  void see(const LoaderStats& stats) STOKER_REQUIRES(mutex_);
  bool is_filling() const STOKER_REQUIRES(mutex_);
  RunFacts facts_of(const Times& times, const std::optional<Seen>& since) const STOKER_REQUIRES(mutex_);
  RunFacts whole_run() const STOKER_REQUIRES(mutex_) { return facts_of(all_, begun_); }
  Gates gates() const;
  // Evaluate, and return the new findings. The caller reports them after it has released mutex_.
  [[nodiscard]] Messages judge_events() STOKER_REQUIRES(mutex_);
  [[nodiscard]] Messages judge_interval() STOKER_REQUIRES(mutex_);
  [[nodiscard]] Messages messages_for(const std::vector<Verdict>& found) STOKER_REQUIRES(mutex_);
  bool is_news(const Verdict& verdict) STOKER_REQUIRES(mutex_);
  void report_messages(const Messages& messages) const STOKER_EXCLUDES(mutex_);

  const WatchOptions options_;
  const Supply supply_;
  const std::function<int64_t()> clock_;
  const std::shared_ptr<Restarts> restarts_;
  const int cores_;

  mutable Mutex mutex_;
  Times all_ STOKER_GUARDED_BY(mutex_);
  Times interval_ STOKER_GUARDED_BY(mutex_);
  int64_t intervals_ STOKER_GUARDED_BY(mutex_) = 0;  // evaluated
  int64_t created_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t asked_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t last_ns_ STOKER_GUARDED_BY(mutex_) = 0;      // when the last batch was delivered, or the epoch ended
  bool is_start_up_ STOKER_GUARDED_BY(mutex_) = true;  // the next step is start-up and is not counted
  int64_t given_ STOKER_GUARDED_BY(mutex_) = 0;
  std::optional<Seen> begun_ STOKER_GUARDED_BY(mutex_);
  std::optional<Seen> interval_begun_ STOKER_GUARDED_BY(mutex_);
  std::optional<Seen> latest_ STOKER_GUARDED_BY(mutex_);
  int64_t epoch_given_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t epoch_ns_ STOKER_GUARDED_BY(mutex_) = 0;  // when the epoch started
  int64_t first_ns_ STOKER_GUARDED_BY(mutex_) = 0;  // when its first batch was delivered
  bool ended_ STOKER_GUARDED_BY(mutex_) = false;
  std::string written_at_ STOKER_GUARDED_BY(mutex_);
  FailureFacts failures_ STOKER_GUARDED_BY(mutex_);
  std::vector<NonFiniteFacts> non_finite_ STOKER_GUARDED_BY(mutex_);
  int64_t checking_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  SilenceFacts silence_ STOKER_GUARDED_BY(mutex_);
  std::optional<double> probe_seconds_ STOKER_GUARDED_BY(mutex_);
  int64_t probed_interval_ STOKER_GUARDED_BY(mutex_) = -1;
  bool suspects_python_ STOKER_GUARDED_BY(mutex_) = false;
  std::set<std::string> slow_ STOKER_GUARDED_BY(mutex_);               // stages that were slow in the last interval
  std::map<std::string, int64_t> reported_ STOKER_GUARDED_BY(mutex_);  // when each finding was last reported
};

}  // namespace stoker
