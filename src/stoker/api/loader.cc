#include "stoker/api/loader.h"

#include <chrono>

#include "stoker/core/interrupt.h"
#include "stoker/core/mutex.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/machine.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/settings.h"

namespace stoker {
namespace {

// How long dropping waits for calls in progress; promised are 50 ms.
constexpr std::chrono::milliseconds kPatience{30};

// So many iterators dropped after one batch are a loop that makes one at every step.
constexpr int64_t kRestartsTold = 20;

using Engines = std::vector<std::shared_ptr<Engine>>;

// All stop before any is waited for.
void drop(Engines engines) {
  std::erase(engines, nullptr);
  for (const auto& engine : engines) engine->stop();
  const auto now = std::chrono::steady_clock::now();
  for (const auto& engine : engines) engine->release_by(engine->is_running_here() ? now : now + kPatience);
}

// How often a thread that waits for its turn asks whether it is interrupted.
constexpr std::chrono::milliseconds kAskInterrupted{100};

Error closed_error() { return Error::precondition("a closed loader cannot be restored from a checkpoint"); }

Error called_by_its_own_function(std::string_view what) {
  return Error::precondition(what,
                             " was called by a function that this iterator is running, and would wait for it to "
                             "return; call it from the training loop");
}

// Nothing of a loader's can be used or freed in such a process: its threads are
// gone, and a lock that one of them held stays locked.
Result<void> check_not_forked() {
  if (!Pool::is_lost_in_fork()) return {};
  return Error::precondition(
      "this process was forked from one that was already loading data, and threads do not survive a fork; use the "
      "start method \"spawn\" or \"forkserver\" (multiprocessing.get_context(\"spawn\")), or fork before the first "
      "iteration");
}

EngineOptions options_for(const Plan& plan, const LoaderOptions& given) {
  EngineOptions options;
  options.stall_warning_s = given.stall_warning_seconds;
  options.interrupted = given.interrupted;
  options.alone = given.alone;
  options.calls_user_in_children = given.calls_user_in_children;
  options.skip_errors = given.on_error ? *given.on_error == OnError::kSkip : plan.on_error.skip;
  options.skip_at_most = given.on_error ? given.skip_at_most : plan.on_error.at_most;
  return options;
}

}  // namespace

// `turn` is held by what replaces the current engine: opening it, beginning an
// epoch, restoring. Stages may read files and user code may run meanwhile.
// `mutex` guards the members below it and is held for moments, never while
// anything waits, runs user code or frees what user code made. Order: turn, then
// mutex; neither is taken under a lock of the engine or the pool.
struct Loader::Running : std::enable_shared_from_this<Running> {
  const Dataset dataset;
  const LoaderOptions options;
  const std::shared_ptr<Meters> meters = std::make_shared<Meters>();
  TimedMutex turn;
  std::shared_ptr<const Plan> plan STOKER_GUARDED_BY(turn);
  int64_t epochs STOKER_GUARDED_BY(turn) = 0;  // begun

  Mutex mutex;
  std::shared_ptr<Engine> engine STOKER_GUARDED_BY(mutex);
  std::shared_ptr<Engine> ahead STOKER_GUARDED_BY(mutex);  // the next epoch, which no iterator has taken yet
  bool closed STOKER_GUARDED_BY(mutex) = false;
  bool told STOKER_GUARDED_BY(mutex) = false;  // the dataset's own error
  std::function<void(const Json&)> waiting STOKER_GUARDED_BY(mutex);
  const std::shared_ptr<Restarts> restarts;
  Location begun_at STOKER_GUARDED_BY(mutex);
  int64_t begun_ns STOKER_GUARDED_BY(mutex) = 0;
  int64_t first_ns STOKER_GUARDED_BY(mutex) = 0;  // when the epoch's first element was there; 0: not yet
  bool ended STOKER_GUARDED_BY(mutex) = false;    // so was its end

  Running(Dataset dataset_in, LoaderOptions options_in, Location at)
      : dataset(std::move(dataset_in)),
        options(options_in),
        restarts(dataset.error() ? std::make_shared<Restarts>() : Restarts::of(*dataset.node())),
        begun_at(std::move(at)) {}

  // False when the caller interrupts the wait.
  bool take_turn() STOKER_TRY_ACQUIRE(true, turn) {
    if (!options.interrupted) {
      turn.lock();
      return true;
    }
    while (!turn.try_lock_for(kAskInterrupted))
      if (options.interrupted()) return false;
    return true;
  }

  // Nothing begins after this.
  Engines end() {
    const MutexLock lock(mutex);
    closed = true;
    return take_engines();
  }

  // The caller drops them after it has released its locks.
  Engines take_engines() STOKER_REQUIRES(mutex) {
    leave();
    return {std::exchange(ahead, nullptr), std::exchange(engine, nullptr)};
  }

  bool runs_here();

  // An epoch that was begun nowhere is a look of ours: it takes no pass, so that
  // iterators give what they would have given without it.
  bool is_look() const STOKER_REQUIRES(mutex) { return begun_at.line == 0; }

  // The epoch that is about to go.
  void leave() STOKER_REQUIRES(mutex) {
    if (!engine || begun_ns == 0 || is_look()) return;
    restarts->note(engine->delivered(), ended,
                   static_cast<double>((first_ns > 0 ? first_ns : now_ns()) - begun_ns) * 1e-9);
    begun_ns = 0;
  }

  // Nothing, or the warning about loops that leave every epoch at once.
  std::string complaint() STOKER_REQUIRES(mutex) {
    if (waiting || !restarts->reaches(kRestartsTold)) return {};
    return "stoker: " + std::to_string(restarts->row().iterators) +
           " iterators of one data set were dropped after one batch each (the last was made at " + begun_at.words() +
           "): every step sees the first batch again; make the iterator once, before the loop";
  }

  std::shared_ptr<Engine> made(Passes passes) STOKER_REQUIRES(turn) {
    EngineOptions engine_options = options_for(*plan, options);
    {
      const MutexLock lock(mutex);
      engine_options.waiting = waiting;
      engine_options.counts_passes = !is_look();
    }
    auto made = Engine::make(plan, meters, std::move(engine_options), std::move(passes));
    made->on_all_begun([loader = weak_from_this(), made = made.get()] {
      const std::shared_ptr<Running> self = loader.lock();
      if (!self) return;
      self->try_fill_next_epoch(made);
    });
    return made;
  }

  Result<void> prepare() STOKER_REQUIRES(turn) {
    if (plan) return {};
    if (dataset.error()) return *dataset.error();
    if (!process_settings()) return process_settings().error();
    STOKER_TRY(plan, lowered(nullptr));
    return {};
  }

  // Files may have to be counted for this, which the caller may interrupt.
  Result<std::shared_ptr<const Plan>> lowered(const Seeds* seeds) const {
    const InterruptScope scope(options.interrupted);
    try {
      return lower(dataset.node(), *meters, Positions::kAsAsked, {}, seeds);
    } catch (const Error& error) {
      return error;
    }
  }

  // Makes the engine current, unless the loader was closed meanwhile.
  void install(const std::shared_ptr<Engine>& made) STOKER_REQUIRES(turn) {
    {
      const MutexLock lock(mutex);
      if (!closed) {
        engine = made;
        begun_ns = now_ns();
        first_ns = 0;
        ended = false;
        return;
      }
    }
    drop({made});
  }

  // The current engine, opened if there is none; null once closed.
  Result<std::shared_ptr<Engine>> open() STOKER_REQUIRES(turn) {
    std::shared_ptr<Engine> untaken;
    bool look = false;
    {
      const MutexLock lock(mutex);
      if (engine || closed) return engine;
      untaken = std::exchange(ahead, nullptr);
      look = is_look();
    }
    STOKER_TRY(prepare());
    ++epochs;
    if (!untaken || !take_if_next(*plan, untaken->passes())) {
      drop({std::exchange(untaken, nullptr)});  // another iterator took its pass
      untaken = made(look ? next_passes(*plan) : take_passes(*plan));
    }
    install(untaken);
    const MutexLock lock(mutex);
    return engine;
  }

  // When the last piece of an epoch has begun, the next epoch begins to fill: it is
  // prefetched like anything else, and dropped if no iterator takes it. Functions
  // with unknown effects wait until the dataset has been iterated twice.
  void fill_next_epoch(const Engine* current) STOKER_REQUIRES(turn) {
    {
      const MutexLock lock(mutex);
      if (ahead || closed || !engine || engine.get() != current || is_look() || !engine->all_begun()) return;
    }
    if (!options.prefetch_next_epoch || (plan->calls_user && epochs < 2)) return;
    const std::shared_ptr<Engine> next = made(next_passes(*plan));
    {
      const MutexLock lock(mutex);
      if (!closed && !ahead && engine.get() == current) ahead = next;
      if (ahead != next) return;
    }
    next->begin();
  }

  // Makes an engine at the saved position current. Everything is ready before
  // anything of the old one is given up: a restore that fails changes nothing.
  // Returns what the caller drops once it has released the turn, as it does `unused`.
  Result<Engines> restore(std::string_view checkpoint, std::shared_ptr<Engine>& unused) STOKER_REQUIRES(turn) {
    {
      const MutexLock lock(mutex);
      if (closed) return closed_error();
    }
    STOKER_TRY(prepare());
    STOKER_TRY(const Json json, read_checkpoint(checkpoint));
    STOKER_TRY(CheckpointHead head, read_head(*plan, json));
    drop_other_caches(*plan, head);
    STOKER_TRY(auto restored_plan, lowered(&head.seeds));
    share_fingerprint(*plan, *restored_plan);
    std::swap(plan, restored_plan);
    const std::shared_ptr<Engine> restored = made(head.passes);
    if (Result<void> done = restored->restore(json); !done) {
      std::swap(plan, restored_plan);
      drop({restored});
      return std::move(done).error();
    }
    const MutexLock lock(mutex);
    if (closed) {
      std::swap(plan, restored_plan);
      unused = restored;
      return closed_error();
    }
    adopt_head(*plan, head);
    begun_ns = first_ns = 0;  // an epoch that goes on is no new one
    ended = false;
    return Engines{std::exchange(engine, restored), std::exchange(ahead, nullptr)};
  }

  // A thread that holds the turn is replacing the engine, or does this itself.
  void try_fill_next_epoch(const Engine* current);

  // Called for each element while it matters: for the epoch's first and last, and
  // while its last pieces run.
  void note_next(const std::shared_ptr<Engine>& from, bool is_end) {
    {
      const MutexLock lock(mutex);
      if (engine != from) return;
      if (first_ns == 0) first_ns = now_ns();
      ended |= is_end;
      if (ahead) return;
    }
    try_fill_next_epoch(from.get());
  }
};

namespace {

// The turn of a loader, which the calling thread has taken, until this goes. They
// nest: user code may open another loader.
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

thread_local const TurnHeld* TurnHeld::innermost = nullptr;

}  // namespace

bool Loader::Running::runs_here() {
  if (TurnHeld::covers(turn)) return true;
  const MutexLock lock(mutex);
  return (engine && engine->is_running_here()) || (ahead && ahead->is_running_here());
}

void Loader::Running::try_fill_next_epoch(const Engine* current) {
  if (!turn.try_lock()) return;
  const TurnHeld held(turn);
  fill_next_epoch(current);
}

Loader::Loader(Dataset dataset, LoaderOptions options, Location at)
    : running_(std::make_shared<Running>(std::move(dataset), options, std::move(at))) {}
Loader::~Loader() { discard(); }
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept {
  discard();
  running_ = std::move(other.running_);
  return *this;
}

void Loader::discard() {
  if (!running_) return;
  if (Pool::is_lost_in_fork())
    new std::shared_ptr<Running>(std::move(running_));  // never freed: see check_not_forked
  else
    drop(running_->end());
}

Result<std::optional<Element>> Loader::next() {
  const std::shared_ptr<Running> kept = running_;  // the loader may be dropped by another thread
  Running& at = *kept;
  STOKER_TRY(check_not_forked());
  std::shared_ptr<Engine> engine;
  {
    const MutexLock lock(at.mutex);
    if (at.closed || at.told) return std::optional<Element>();
    engine = at.engine;
  }
  if (!engine) {
    if (TurnHeld::covers(at.turn)) return called_by_its_own_function("next()");
    std::string complaint;
    {
      if (!at.take_turn()) return Error::cancelled();
      const TurnHeld held(at.turn);
      Result<std::shared_ptr<Engine>> opened = at.open();
      const MutexLock lock(at.mutex);
      if (!opened) {
        at.told = opened.error().code() != Code::kCancelled;  // once; what follows is the end
        return std::move(opened).error();
      }
      engine = *std::move(opened);
      complaint = at.complaint();
    }
    if (!complaint.empty()) tell(complaint);
    if (!engine) return std::optional<Element>();
  }
  const bool first = engine->delivered() == 0;
  Result<std::optional<Element>> element = engine->next();
  const bool ended = element && !*element;
  if (first) tell_unsent();
  if (first || ended || engine->all_begun()) at.note_next(engine, ended);
  return element;
}

void Loader::begin_epoch(Location at) {
  if (Result<void> fit = check_not_forked(); !fit) throw std::move(fit).error();
  if (running_->runs_here()) throw called_by_its_own_function("begin_epoch()");
  std::shared_ptr<Engine> left;
  {
    if (!running_->take_turn()) throw Error::cancelled();
    const TurnHeld held(running_->turn);
    const MutexLock lock(running_->mutex);
    running_->leave();
    running_->told = false;  // what is wrong with the dataset is reported again
    running_->begun_at = std::move(at);
    left = std::exchange(running_->engine, nullptr);
  }
  drop({left});
}

void Loader::release() {
  if (Pool::is_lost_in_fork()) return;
  Engines left;
  {
    const MutexLock lock(running_->mutex);
    left = running_->take_engines();
  }
  drop(std::move(left));
}

Loader::Iterator Loader::begin(Location at) {
  begin_epoch(std::move(at));
  return Iterator(this);
}

Result<std::string> Loader::save() {
  STOKER_TRY(check_not_forked());
  std::shared_ptr<Engine> engine;
  bool closed = false;
  {
    const MutexLock lock(running_->mutex);
    engine = running_->engine;
    closed = running_->closed;
  }
  if (!engine && !closed) {
    if (TurnHeld::covers(running_->turn)) return called_by_its_own_function("save()");
    if (!running_->take_turn()) return Error::cancelled();
    const TurnHeld held(running_->turn);
    STOKER_TRY(engine, running_->open());
  }
  if (!engine) return Error::precondition("a closed loader has no position to save");
  STOKER_TRY(Json json, engine->save());
  return checkpoint_text(std::move(json));
}

Result<void> Loader::restore(std::string_view checkpoint) {
  Running& at = *running_;
  STOKER_TRY(check_not_forked());
  if (at.runs_here()) return called_by_its_own_function("restore()");
  std::shared_ptr<Engine> unused;
  Result<Engines> left = Engines();
  {
    if (!at.take_turn()) return Error::cancelled();
    const TurnHeld held(at.turn);
    left = at.restore(checkpoint, unused);
  }
  drop({unused});
  if (!left) return std::move(left).error();
  drop(*std::move(left));
  return {};
}

std::string Loader::stats() {
  const std::shared_ptr<Engine> engine = current();
  return engine ? engine->stats().text() : "{}";
}

std::vector<Skipped> Loader::skipped() {
  std::vector<Skipped> all;
  if (const std::shared_ptr<Engine> engine = current())
    for (SkippedElement& one : engine->skipped()) all.push_back({std::move(one.origin), std::move(one.error)});
  return all;
}

double Loader::wait_seconds() const {
  const std::shared_ptr<Engine> engine = current();
  return engine ? static_cast<double>(engine->consumer_wait_ns()) * 1e-9 : 0;
}

void Loader::close(std::optional<std::chrono::milliseconds> patience) {
  if (Pool::is_lost_in_fork()) return;
  if (running_->runs_here()) throw called_by_its_own_function("close()");
  Engines engines = running_->end();
  std::erase(engines, nullptr);
  for (const auto& engine : engines) engine->stop();
  const auto deadline = std::chrono::steady_clock::now() + patience.value_or(std::chrono::milliseconds(0));
  for (const auto& engine : engines)
    if (patience)
      engine->release_by(deadline);
    else
      engine->release_when_done();
}

// Null between epochs, and in a forked process, whose locks cannot be trusted.
std::shared_ptr<Engine> Loader::current() const {
  if (Pool::is_lost_in_fork()) return nullptr;
  const MutexLock lock(running_->mutex);
  return running_->engine;
}

const Dataset& Loader::dataset() const { return running_->dataset; }

const std::shared_ptr<Restarts>& Loader::restarts() const { return running_->restarts; }

std::string Loader::begun_at() const {
  const MutexLock lock(running_->mutex);
  return running_->begun_at.words();
}

void Loader::on_waiting(std::function<void(const Json& stats)> call) {
  const MutexLock lock(running_->mutex);
  running_->waiting = std::move(call);
}

namespace {

Result<void> check(const Resources& resources) {
  if (!process_settings()) return process_settings().error();
  if (resources.workers) STOKER_TRY(check_workers(*resources.workers));
  return resources.memory_bytes ? check_memory(*resources.memory_bytes) : Result<void>();
}

}  // namespace

void configure(const Resources& resources) {
  if (const Result<void> checked = check(resources); !checked) throw checked.error();
  if (const Result<void> usable = check_not_forked(); resources.workers && !usable) throw usable.error();
  if (resources.memory_bytes) Budget::process().set_limit(*resources.memory_bytes);
  if (!resources.workers) return;
  const bool automatic = *resources.workers == kAutotune;
  Pool::process().set_workers(automatic ? default_workers(read_machine().cores) : *resources.workers);
}

MemoryUse memory_use() {
  const Budget& budget = Budget::process();
  return {budget.used(), budget.peak(), budget.limit()};
}

}  // namespace stoker
