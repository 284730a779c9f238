#include "stoker/api/loader.h"

#include <chrono>

#include "stoker/api/running_loader.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/machine.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/settings.h"

namespace stoker {
namespace {

Error called_by_its_own_function(std::string_view what) {
  return Error::precondition(what,
                             " was called by a function that this iterator is running, and would wait for it to "
                             "return; call it from the training loop");
}

// No part of a loader can be used or freed in a forked process: its threads do not
// exist, and a lock that one of them held stays locked.
Result<void> check_not_forked() {
  if (!Pool::is_lost_in_fork()) return {};
  return Error::precondition(
      "this process was forked from one that was already loading data, and threads do not survive a fork; use the "
      "start method \"spawn\" or \"forkserver\" (multiprocessing.get_context(\"spawn\")), or fork before the first "
      "iteration");
}

}  // namespace

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
    drop_engines(running_->end());
}

// An engine that a restore in another thread has replaced ends here, and the
// element comes from the one that replaced it.
Result<std::optional<Element>> Loader::next() {
  const std::shared_ptr<Running> kept = running_;  // another thread may destroy the loader
  int64_t restores = kept->restores;
  Result<std::optional<Element>> element = next_of_current(*kept);
  while (element && !*element && kept->restores != restores) {
    restores = kept->restores;
    element = next_of_current(*kept);
  }
  return element;
}

Result<std::optional<Element>> Loader::next_of_current(Running& at) {
  STOKER_TRY(check_not_forked());
  if (TurnHeld::covers(at.turn)) return called_by_its_own_function("next()");
  std::shared_ptr<Engine> engine;
  {
    const MutexLock lock(at.mutex);
    if (at.closed || at.error_returned) return std::optional<Element>();
    engine = at.engine;
  }
  if (!engine) {
    std::string complaint;
    {
      if (!at.take_turn()) return Error::cancelled();
      const TurnHeld held(at.turn);
      Result<std::shared_ptr<Engine>> opened = at.open();
      const MutexLock lock(at.mutex);
      if (!opened) {
        at.error_returned = opened.error().code() != Code::kCancelled;  // returned once; later calls return the end
        return std::move(opened).error();
      }
      engine = *std::move(opened);
      complaint = at.complaint();
    }
    if (!complaint.empty()) report_message(complaint);
    if (!engine) return std::optional<Element>();
  }
  const bool first = engine->delivered() == 0;
  Result<std::optional<Element>> element = engine->next();
  const bool ended = element && !*element;
  if (first) report_unsent_messages();
  if (first || ended || engine->all_started()) at.note_next(engine, ended);
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
    running_->error_returned = false;  // the error of the dataset is returned again
    running_->begun_at = std::move(at);
    left = std::exchange(running_->engine, nullptr);
  }
  drop_engines({left});
}

void Loader::release() {
  if (Pool::is_lost_in_fork()) return;
  Engines left;
  {
    const MutexLock lock(running_->mutex);
    left = running_->take_engines();
  }
  drop_engines(std::move(left));
}

Loader::Iterator Loader::begin(Location at) {
  begin_epoch(std::move(at));
  return Iterator(this);
}

// Like next(): if a restore in another thread has replaced the engine, the position is that of its replacement.
Result<std::string> Loader::save() {
  STOKER_TRY(check_not_forked());
  while (true) {
    const int64_t restores = running_->restores;
    Result<std::string> saved = save_current();
    if (saved || running_->restores == restores) return saved;
  }
}

Result<std::string> Loader::save_current() {
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

void Loader::withdraw() {
  if (const std::shared_ptr<Engine> engine = current()) engine->withdraw();
}

void Loader::redeliver() {
  if (const std::shared_ptr<Engine> engine = current()) engine->redeliver();
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
  drop_engines({unused});
  if (!left) return std::move(left).error();
  drop_engines(*std::move(left));
  return {};
}

LoaderStats Loader::stats() {
  const std::shared_ptr<Engine> engine = current();
  return engine ? engine->stats() : LoaderStats();
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

// Null between epochs, and in a forked process, whose locks cannot be used.
std::shared_ptr<Engine> Loader::current() const {
  if (Pool::is_lost_in_fork()) return nullptr;
  const MutexLock lock(running_->mutex);
  return running_->engine;
}

const Dataset& Loader::dataset() const { return running_->dataset; }

const std::shared_ptr<Restarts>& Loader::restarts() const { return running_->restarts; }

std::string Loader::begun_at() const {
  const MutexLock lock(running_->mutex);
  return running_->begun_at.describe();
}

void Loader::on_waiting(std::function<void(const LoaderStats& stats)> call) {
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
