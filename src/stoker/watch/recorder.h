#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/api/restarts.h"
#include "stoker/core/error.h"
#include "stoker/diagnose/verdict.h"
#include "stoker/watch/finite.h"
#include "stoker/watch/loader_counts.h"

namespace stoker {

struct WatchOptions {
  // Times are judged a window at a time: so long and so many steps at least.
  double window_seconds = 10;
  int64_t window_steps = 50;
  std::optional<int64_t> steps;                  // that the loop will take of each epoch
  double silence_seconds = 30;                   // without a first batch, until that is told
  bool python = false;                           // the user's functions are Python's
  std::function<void(const std::string&)> tell;  // nothing: where the process's messages go
  std::function<int64_t()> clock;                // nanoseconds; nothing: the system's
};

// What is known of the data before the first batch.
struct Supply {
  std::string source;                  // "list_files (train.cc:12)"
  std::optional<int64_t> batches;      // of one epoch
  std::optional<int> workers;          // that make them ahead; 0: the training thread makes them
  std::shared_ptr<Restarts> restarts;  // where a loader counts them; nothing: the recorder does
  std::string begun_at;                // the first epoch: "train.cc:41"

  // What a data set says of itself.
  static Supply of(const Dataset& dataset);
};

// Collects what a training loop and its input show, judges it, and says what
// has changed: nothing while all is well, the same thing once in ten minutes.
//
// The loop's side is ask, then give, end or fail; safe from several threads.
// The first three steps, and the first of each epoch, are start-up and count
// for nothing.
class Recorder {
 public:
  Recorder(WatchOptions options, Supply supply);

  void begin_epoch(std::string written_at);
  // The loop comes for a batch; the time, for what follows.
  int64_t ask();
  void give(int64_t asked);
  void end();
  // `words` without the path.
  void fail(std::string words, std::string path);

  // Values of the batch last given: every batch of the first window, afterwards
  // while that takes less than 0.5 % of the time.
  bool wants_values() const;
  void note_values(const std::vector<NonFinite>& found, int64_t looked_since);
  int64_t now() const { return clock_(); }

  // A window is over, or start-up is: look() wants the loader's stats, or {}.
  bool is_due() const;
  void look(const Json& stats);
  // While a batch is waited for: what is held, and how long there was none; of
  // `silence` only what whoever waits can see besides.
  void look_while_waiting(const Json& stats, SilenceFacts silence = {});
  void note_skipped(int64_t skipped, std::string first, std::string path);

  // Python's lock: to be probed when a Python stage is suspected, at most every
  // ten windows.
  bool wants_probe() const;
  void note_probe(double median_seconds);

  // Over the whole run so far. `stats` as in look().
  std::vector<Verdict> verdicts(const Json& stats);
  std::string report(const Json& stats);
  Json to_json(const Json& stats);

 private:
  struct Times {
    int64_t steps = 0;
    int64_t ns = 0;
    int64_t wait_ns = 0;
  };
  struct Seen {
    LoaderCounts counts;
    int64_t at_ns = 0;
    int64_t batches = 0;
  };
  using Said = std::vector<std::string>;

  // Under the lock.
  void add_non_finite(const NonFinite& bad);
  bool window_is_over() const;
  void see(const Json& stats);
  bool is_filling() const;
  RunFacts facts_of(const Times& times, const std::optional<Seen>& since) const;
  RunFacts whole_run() const { return facts_of(all_, begun_); }
  Gates gates() const;
  Said judge_events();
  Said judge_window();
  Said words_for(const std::vector<Verdict>& found);
  bool is_news(const Verdict& verdict);

  // Without it.
  template <typename Change>
  void note(Change change);
  void say(const Said& said) const;

  const WatchOptions options_;
  const Supply supply_;
  const std::function<int64_t()> clock_;
  const std::shared_ptr<Restarts> restarts_;
  const int cores_;

  mutable std::mutex mutex_;
  Times all_, window_;
  int64_t windows_ = 0;  // judged
  int64_t created_ns_ = 0;
  int64_t asked_ns_ = 0;
  int64_t last_ns_ = 0;  // the last batch, or the end
  bool apart_ = true;    // the next step is start-up
  int64_t given_ = 0;
  std::optional<Seen> begun_, window_begun_, latest_;
  int64_t epoch_given_ = 0;
  int64_t epoch_ns_ = 0;  // when it began
  int64_t first_ns_ = 0;  // when its first batch was there
  bool ended_ = false;
  std::string written_at_;
  FailureFacts failures_;
  std::vector<NonFiniteFacts> non_finite_;
  int64_t checking_ns_ = 0;
  SilenceFacts silence_;
  std::optional<double> probe_seconds_;
  int64_t probed_window_ = -1;
  bool suspects_python_ = false;
  std::set<std::string> slow_;           // what the last window found slow
  std::map<std::string, int64_t> told_;  // when
};

}  // namespace stoker
