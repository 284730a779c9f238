#include "stoker/api/running_loader.h"

#include "stoker/core/interrupt.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/settings.h"

namespace stoker {
namespace {

// How long dropping an engine waits for calls in progress. ~Loader() guarantees 50 ms.
constexpr std::chrono::milliseconds kPatience{30};

// The number of iterators dropped after one batch from which on a loop is assumed to
// create an iterator in every step.
constexpr int64_t kRestartsBeforeWarning = 20;

Error closed_error() { return Error::precondition("a closed loader cannot be restored from a checkpoint"); }

// A write that was interrupted leaves an empty file, or the start of a checkpoint.
Result<void> check_is_whole(std::string_view checkpoint) {
  constexpr std::string_view kStart = R"({"stoker_checkpoint")";
  const size_t last = checkpoint.find_last_not_of(" \r\n");
  if (last == std::string_view::npos) return Error::invalid("the checkpoint is empty; use an earlier checkpoint");
  const bool is_ours = checkpoint.starts_with(kStart) || kStart.starts_with(checkpoint);
  if (!is_ours || checkpoint[last] == '}') return {};
  return Error::invalid("the checkpoint is cut short at byte ", checkpoint.size(), "; use an earlier checkpoint");
}

EngineOptions options_for(const Plan& plan, const LoaderOptions& given) {
  EngineOptions options;
  options.stall_warning_s = given.stall_warning_seconds;
  options.interrupted = given.interrupted;
  options.owner = given.owner;
  options.alone = given.alone;
  options.counts_passes = given.counts_passes;
  options.calls_user_in_children = given.calls_user_in_children;
  options.skip_errors = given.on_error ? *given.on_error == OnError::kSkip : plan.on_error.skip;
  options.skip_at_most = given.on_error ? given.skip_at_most : plan.on_error.at_most;
  return options;
}

}  // namespace

void drop_engines(Engines engines) {
  std::erase(engines, nullptr);
  for (const auto& engine : engines) engine->stop();
  const auto now = std::chrono::steady_clock::now();
  for (const auto& engine : engines) engine->release_by(engine->is_running_here() ? now : now + kPatience);
}

thread_local const TurnHeld* TurnHeld::innermost = nullptr;

Loader::Running::Running(Dataset dataset_in, LoaderOptions options_in, Location at)
    : dataset(std::move(dataset_in)),
      options(options_in),
      restarts(dataset.error() ? std::make_shared<Restarts>() : Restarts::of(*dataset.node())),
      begun_at(std::move(at)) {}

bool Loader::Running::take_turn() {
  if (!options.interrupted) {
    turn.lock();
    return true;
  }
  while (!turn.try_lock_for(kInterruptCheckInterval))
    if (options.interrupted()) return false;
  return true;
}

Engines Loader::Running::end() {
  const MutexLock lock(mutex);
  closed = true;
  return take_engines();
}

Engines Loader::Running::take_engines() {
  leave();
  return {std::exchange(ahead, nullptr), std::exchange(engine, nullptr)};
}

void Loader::Running::leave() {
  if (!engine || begun_ns == 0 || !options.counts_passes) return;
  restarts->note(engine->delivered(), ended,
                 static_cast<double>((first_ns > 0 ? first_ns : now_ns()) - begun_ns) * 1e-9);
  begun_ns = 0;
}

std::string Loader::Running::complaint() {
  if (waiting || !restarts->reaches(kRestartsBeforeWarning)) return {};
  return "stoker: " + std::to_string(restarts->row().iterators) +
         " iterators of one dataset were dropped after one batch each (the last was made at " + begun_at.describe() +
         "): every step sees the first batch again; make the iterator once, before the loop";
}

std::shared_ptr<Engine> Loader::Running::made(Passes passes) {
  EngineOptions engine_options = options_for(*plan, options);
  {
    const MutexLock lock(mutex);
    engine_options.waiting = waiting;
  }
  auto made = Engine::make(plan, meters, std::move(engine_options), std::move(passes));
  made->on_all_started([loader = weak_from_this(), made = made.get()] {
    const std::shared_ptr<Running> self = loader.lock();
    if (!self) return;
    self->try_fill_next_epoch(made);
  });
  return made;
}

Result<void> Loader::Running::prepare() {
  if (plan) return {};
  if (dataset.error()) return *dataset.error();
  if (!process_settings()) return process_settings().error();
  STOKER_TRY(plan, lowered(nullptr));
  return {};
}

Result<std::shared_ptr<const Plan>> Loader::Running::lowered(const Seeds* seeds) const {
  const InterruptScope scope(options.interrupted);
  try {
    return lower(dataset.node(), *meters, Positions::kIfRequired, {}, seeds);
  } catch (const Error& error) {
    return error;
  }
}

void Loader::Running::install(const std::shared_ptr<Engine>& made) {
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
  drop_engines({made});
}

Result<std::shared_ptr<Engine>> Loader::Running::open() {
  std::shared_ptr<Engine> untaken;
  {
    const MutexLock lock(mutex);
    if (engine || closed) return engine;
    untaken = std::exchange(ahead, nullptr);
  }
  STOKER_TRY(prepare());
  ++epochs;
  if (!untaken || !take_if_next(*plan, untaken->passes())) {
    drop_engines({std::exchange(untaken, nullptr)});  // another iterator has taken its pass
    untaken = made(options.counts_passes ? take_passes(*plan) : next_passes(*plan));
  }
  install(untaken);
  const MutexLock lock(mutex);
  return engine;
}

void Loader::Running::fill_next_epoch(const Engine* current) {
  {
    const MutexLock lock(mutex);
    if (ahead || closed || !engine || engine.get() != current || !engine->all_started()) return;
  }
  if (!options.prefetch_next_epoch || !options.counts_passes || (plan->calls_user && epochs < 2)) return;
  const std::shared_ptr<Engine> next = made(next_passes(*plan));
  {
    const MutexLock lock(mutex);
    if (!closed && !ahead && engine.get() == current) ahead = next;
    if (ahead != next) return;
  }
  next->begin();
}

Result<Engines> Loader::Running::restore(std::string_view checkpoint, std::shared_ptr<Engine>& unused) {
  {
    const MutexLock lock(mutex);
    if (closed) return closed_error();
  }
  STOKER_TRY(prepare());
  STOKER_TRY(check_is_whole(checkpoint));
  STOKER_TRY(const Json json, read_checkpoint(checkpoint));
  STOKER_TRY(CheckpointHead head, read_head(*plan, json));
  STOKER_TRY(auto restored_plan, lowered(&head.seeds));
  share_fingerprint(*plan, *restored_plan);
  std::swap(plan, restored_plan);
  const std::shared_ptr<Engine> restored = made(head.passes);
  if (Result<void> done = restored->restore(json); !done) {
    std::swap(plan, restored_plan);
    drop_engines({restored});
    return std::move(done).error();
  }
  const MutexLock lock(mutex);
  if (closed) {
    std::swap(plan, restored_plan);
    unused = restored;
    return closed_error();
  }
  adopt_head(*plan, head);
  begun_ns = first_ns = 0;  // a restored epoch is not a new one
  ended = false;
  error_returned = false;
  ++restores;
  return Engines{std::exchange(engine, restored), std::exchange(ahead, nullptr)};
}

void Loader::Running::note_next(const std::shared_ptr<Engine>& from, bool is_end) {
  {
    const MutexLock lock(mutex);
    if (engine != from) return;
    if (first_ns == 0) first_ns = now_ns();
    ended |= is_end;
    if (ahead) return;
  }
  try_fill_next_epoch(from.get());
}

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

}  // namespace stoker
