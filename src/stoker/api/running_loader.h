#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/api/loader.h"
#include "stoker/core/mutex.h"
#include "stoker/runtime/engine.h"

namespace stoker {

using Engines = std::vector<std::shared_ptr<Engine>>;

// Stops all engines before it waits for any of them, for 30 ms at most.
void drop_engines(Engines engines);

// `turn` is held while the current engine is replaced: on opening, on a new epoch,
// and on a restore. Stages may read files and user code may run while it is held.
// `mutex` guards the members below it and is held briefly, never while a thread
// waits, runs user code, or frees objects of user code. The order is turn, then
// mutex; neither is acquired under a lock of the engine or the pool.
struct Loader::Running : std::enable_shared_from_this<Running> {
  const Dataset dataset;
  const LoaderOptions options;
  const std::shared_ptr<Meters> meters = std::make_shared<Meters>();
  TimedMutex turn;
  std::shared_ptr<const Plan> plan STOKER_GUARDED_BY(turn);
  int64_t epochs STOKER_GUARDED_BY(turn) = 0;  // started

  Mutex mutex;
  std::shared_ptr<Engine> engine STOKER_GUARDED_BY(mutex);
  std::shared_ptr<Engine> ahead STOKER_GUARDED_BY(mutex);  // the next epoch, not yet used by an iterator
  bool closed STOKER_GUARDED_BY(mutex) = false;
  std::atomic<int64_t> restores{0};                      // that replaced the engine
  bool error_returned STOKER_GUARDED_BY(mutex) = false;  // the error of the dataset was returned
  std::function<void(const LoaderStats&)> waiting STOKER_GUARDED_BY(mutex);
  const std::shared_ptr<Restarts> restarts;
  Location begun_at STOKER_GUARDED_BY(mutex);
  int64_t begun_ns STOKER_GUARDED_BY(mutex) = 0;
  int64_t first_ns STOKER_GUARDED_BY(mutex) = 0;  // when the epoch's first element was delivered; 0: not yet
  bool ended STOKER_GUARDED_BY(mutex) = false;    // the end of the epoch was delivered

  Running(Dataset dataset, LoaderOptions options, Location at);

  // Returns false if `interrupted` ends the wait.
  bool take_turn() STOKER_TRY_ACQUIRE(true, turn);

  // Closes the loader: no engine is opened after this.
  Engines end();

  // The caller drops them after it has released its locks.
  Engines take_engines() STOKER_REQUIRES(mutex);

  bool runs_here();

  // Records that the current epoch is dropped.
  void leave() STOKER_REQUIRES(mutex);

  // The warning about loops that drop every epoch after one batch, or "".
  std::string complaint() STOKER_REQUIRES(mutex);

  std::shared_ptr<Engine> made(Passes passes) STOKER_REQUIRES(turn);

  Result<void> prepare() STOKER_REQUIRES(turn);

  // This may count the records of files, which `interrupted` can end.
  Result<std::shared_ptr<const Plan>> lowered(const Seeds* seeds) const;

  // Makes the engine current, unless another thread has closed the loader.
  void install(const std::shared_ptr<Engine>& made) STOKER_REQUIRES(turn);

  // The current engine; opens one if there is none. Null if the loader is closed.
  Result<std::shared_ptr<Engine>> open() STOKER_REQUIRES(turn);

  // Starts to prefetch the next epoch when the last piece of this one has started. It
  // is dropped if no iterator uses it. Functions with unknown effects are not called
  // for it before the dataset has been iterated twice.
  void fill_next_epoch(const Engine* current) STOKER_REQUIRES(turn);

  // Makes an engine at the saved position current. The new engine is ready before the
  // old one is replaced, so a restore that fails changes nothing. Returns the engines
  // that the caller drops after it has released the turn, as it drops `unused`.
  Result<Engines> restore(std::string_view checkpoint, std::shared_ptr<Engine>& unused) STOKER_REQUIRES(turn);

  // If another thread holds the turn, it replaces the engine or does this itself.
  void try_fill_next_epoch(const Engine* current);

  // Called for the first and the last element of an epoch, and for each element while
  // its last pieces run.
  void note_next(const std::shared_ptr<Engine>& from, bool is_end);
};

// Marks the turn of a loader as held by the calling thread, until the destructor. The
// marks nest, because user code may open another loader.
class STOKER_ANNOTATION(scoped_lockable) TurnHeld {
 public:
  explicit TurnHeld(TimedMutex& turn) STOKER_REQUIRES(turn) : turn_(turn), outer_(std::exchange(innermost, this)) {}
  ~TurnHeld() STOKER_RELEASE() {
    innermost = outer_;
    turn_.unlock();
  }
  TurnHeld(const TurnHeld&) = delete;
  TurnHeld& operator=(const TurnHeld&) = delete;

  static bool covers(const TimedMutex& turn) {
    for (const TurnHeld* held = innermost; held; held = held->outer_)
      if (&held->turn_ == &turn) return true;
    return false;
  }

 private:
  static thread_local const TurnHeld* innermost;

  TimedMutex& turn_;
  const TurnHeld* const outer_;
};

}  // namespace stoker
