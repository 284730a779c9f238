#include "stoker/api/loader.h"

#include <chrono>
#include <mutex>

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
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (const auto& engine : engines) engine->release_by(deadline);
}

EngineOptions options_for(const Plan& plan, const LoaderOptions& given) {
  EngineOptions options;
  options.stall_warning_s = given.stall_warning_seconds;
  options.interrupted = given.interrupted;
  options.skip_errors = given.on_error ? *given.on_error == OnError::kSkip : plan.on_error.skip;
  options.skip_at_most = given.on_error ? given.skip_at_most : plan.on_error.at_most;
  return options;
}

}  // namespace

// Everything under its lock, which nobody holds while an element is made.
struct Loader::Running : std::enable_shared_from_this<Running> {
  const Dataset dataset;
  const LoaderOptions options;
  const std::shared_ptr<Meters> meters = std::make_shared<Meters>();
  std::mutex mutex;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Engine> ahead;  // the next epoch, which nobody has taken yet
  int64_t epochs = 0;             // begun
  bool closed = false;
  bool told = false;  // the data set's own error
  std::function<void(const Json&)> waiting;
  const std::shared_ptr<Restarts> restarts;
  Location begun_at;
  int64_t begun_ns = 0;
  int64_t first_ns = 0;  // when the epoch's first element was there; 0: not yet
  bool ended = false;    // so was its end

  Running(Dataset dataset_in, LoaderOptions options_in, Location at)
      : dataset(std::move(dataset_in)),
        options(options_in),
        restarts(dataset.error() ? std::make_shared<Restarts>() : Restarts::of(*dataset.node())),
        begun_at(std::move(at)) {}

  // Nothing begins after this.
  void end() {
    std::lock_guard lock(mutex);
    closed = true;
    leave();
    drop({std::exchange(ahead, nullptr), std::exchange(engine, nullptr)});
  }

  // An epoch that was begun nowhere is a look of ours: it takes no pass, so that
  // iterators give what they would have given without it.
  bool is_look() const { return begun_at.line == 0; }

  // The epoch that is about to go.
  void leave() {
    if (!engine || begun_ns == 0 || is_look()) return;
    restarts->note(engine->delivered(), ended,
                   static_cast<double>((first_ns > 0 ? first_ns : now_ns()) - begun_ns) * 1e-9);
    begun_ns = 0;
  }

  // Nothing, or what is to be told about loops that leave every epoch at once.
  std::string complaint() {
    if (waiting || !restarts->reaches(kRestartsTold)) return {};
    return "stoker: " + std::to_string(restarts->row().iterators) +
           " iterators of one data set were dropped after one batch each (the last was made at " + begun_at.words() +
           "): every step sees the first batch again; make the iterator once, before the loop";
  }

  std::shared_ptr<Engine> made(Passes passes) {
    EngineOptions engine_options = options_for(*plan, options);
    engine_options.waiting = waiting;
    engine_options.counts_passes = !is_look();
    auto made = Engine::make(plan, meters, std::move(engine_options), std::move(passes));
    made->on_all_begun([loader = weak_from_this(), made = made.get()] {
      const std::shared_ptr<Running> self = loader.lock();
      if (!self) return;
      // Whoever holds the lock is the consumer, who will see to it, or ends all.
      const std::unique_lock lock(self->mutex, std::try_to_lock);
      if (lock.owns_lock() && self->engine.get() == made) self->fill_next_epoch();
    });
    return made;
  }

  Result<void> prepare() {
    if (plan) return {};
    if (dataset.error()) return *dataset.error();
    if (!process_settings()) return process_settings().error();
    STOKER_TRY(plan, lower(dataset.node(), *meters));
    return {};
  }

  Result<void> open() {
    if (engine) return {};
    STOKER_TRY(prepare());
    ++epochs;
    begun_ns = now_ns();
    first_ns = 0;
    ended = false;
    if (ahead && take_if_next(*plan, ahead->passes())) {
      engine = std::exchange(ahead, nullptr);
      return {};
    }
    drop({std::exchange(ahead, nullptr)});  // another iterator took its pass
    engine = made(is_look() ? next_passes(*plan) : take_passes(*plan));
    return {};
  }

  // When the last piece of an epoch has begun, the next epoch begins to fill: work
  // ahead like any other, dropped if nobody wants it. Functions whose effects
  // nobody knows wait until the data set has been iterated twice.
  void fill_next_epoch() {
    if (ahead || !engine || is_look() || !engine->all_begun() || (plan->calls_user && epochs < 2)) return;
    ahead = made(next_passes(*plan));
    ahead->begin();
  }
};

Loader::Loader(Dataset dataset, LoaderOptions options, Location at)
    : running_(std::make_shared<Running>(std::move(dataset), options, std::move(at))) {}
Loader::~Loader() {
  if (running_) running_->end();
}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept {
  if (running_) running_->end();
  running_ = std::move(other.running_);
  return *this;
}

Result<std::optional<Element>> Loader::next() {
  std::shared_ptr<Engine> engine;
  std::string complaint;
  {
    std::lock_guard lock(running_->mutex);
    if (running_->closed || running_->told) return std::optional<Element>();
    if (Result<void> opened = running_->open(); !opened) {
      running_->told = true;  // once; what follows is the end
      return std::move(opened).error();
    }
    engine = running_->engine;
    if (running_->first_ns == 0) complaint = running_->complaint();
  }
  if (!complaint.empty()) tell(complaint);
  const bool first = engine->delivered() == 0;
  Result<std::optional<Element>> element = engine->next();
  const bool ended = element && !*element;
  if (first || ended || engine->all_begun()) {
    std::lock_guard lock(running_->mutex);
    if (engine != running_->engine) return element;
    if (running_->first_ns == 0) running_->first_ns = now_ns();
    running_->ended |= ended;
    if (!running_->ahead) running_->fill_next_epoch();
  }
  return element;
}

void Loader::begin_epoch(Location at) {
  std::lock_guard lock(running_->mutex);
  running_->leave();
  running_->begun_at = std::move(at);
  drop({std::exchange(running_->engine, nullptr)});
}

Loader::Iterator Loader::begin(Location at) {
  begin_epoch(std::move(at));
  return Iterator(this);
}

Result<std::string> Loader::save() {
  std::lock_guard lock(running_->mutex);
  if (running_->closed) return Error::precondition("a closed loader has no place to save");
  STOKER_TRY(running_->open());
  STOKER_TRY(Json json, running_->engine->save());
  return checkpoint_text(std::move(json));
}

Result<void> Loader::restore(std::string_view checkpoint) {
  Running& at = *running_;
  std::lock_guard lock(at.mutex);
  if (at.closed) return Error::precondition("a closed loader cannot go on from a checkpoint");
  STOKER_TRY(at.prepare());
  STOKER_TRY(const Json json, read_checkpoint(checkpoint));
  STOKER_TRY(CheckpointHead head, read_head(*at.plan, json));
  // All of it is there before anything of the old is given up: a restore that
  // fails changes nothing.
  STOKER_TRY(auto plan, lower(at.dataset.node(), *at.meters, Positions::kAsAsked, {}, &head.seeds));
  std::swap(at.plan, plan);
  auto engine = at.made(head.passes);
  if (Result<void> restored = engine->restore(json); !restored) {
    std::swap(at.plan, plan);
    drop({std::move(engine)});
    return restored;
  }
  adopt_head(*at.plan, head);
  drop({std::exchange(at.engine, std::move(engine)), std::exchange(at.ahead, nullptr)});
  at.begun_ns = 0;  // an epoch that goes on is no new one
  return {};
}

std::string Loader::stats() {
  std::lock_guard lock(running_->mutex);
  return running_->engine ? running_->engine->stats().text() : "{}";
}

std::vector<Skipped> Loader::skipped() {
  std::lock_guard lock(running_->mutex);
  std::vector<Skipped> all;
  if (running_->engine)
    for (SkippedElement& one : running_->engine->skipped())
      all.push_back({std::move(one.origin), std::move(one.error)});
  return all;
}

double Loader::wait_seconds() const {
  std::lock_guard lock(running_->mutex);
  return running_->engine ? static_cast<double>(running_->engine->consumer_wait_ns()) * 1e-9 : 0;
}

void Loader::close() {
  Engines engines;
  {
    std::lock_guard lock(running_->mutex);
    engines = {std::exchange(running_->ahead, nullptr), std::exchange(running_->engine, nullptr)};
    running_->closed = true;
  }
  std::erase(engines, nullptr);
  for (const auto& engine : engines) engine->stop();
  for (const auto& engine : engines) engine->release_when_done();
}

const Dataset& Loader::dataset() const { return running_->dataset; }

const std::shared_ptr<Restarts>& Loader::restarts() const { return running_->restarts; }

std::string Loader::begun_at() const {
  std::lock_guard lock(running_->mutex);
  return running_->begun_at.words();
}

void Loader::on_waiting(std::function<void(const Json& stats)> call) {
  std::lock_guard lock(running_->mutex);
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
