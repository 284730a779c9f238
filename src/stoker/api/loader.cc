#include "stoker/api/loader.h"

#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"

namespace stoker {

Loader::Loader(Dataset dataset, LoaderOptions options)
    : dataset_(std::move(dataset)), options_(options), meters_(std::make_shared<Meters>()) {}

Loader::~Loader() {
  if (ahead_) ahead_->close();
  if (engine_) engine_->close();
}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept {
  if (ahead_) ahead_->close();
  if (engine_) engine_->close();
  ahead_ = std::move(other.ahead_);
  epochs_ = other.epochs_;
  dataset_ = std::move(other.dataset_);
  options_ = other.options_;
  meters_ = std::move(other.meters_);
  plan_ = std::move(other.plan_);
  engine_ = std::move(other.engine_);
  closed_ = other.closed_;
  told_ = other.told_;
  return *this;
}

Result<void> Loader::prepare() {
  if (plan_) return {};
  if (dataset_.error()) return *dataset_.error();
  STOKER_TRY(plan_, lower(dataset_.node(), *meters_));
  return {};
}

namespace {

EngineOptions options_for(const Plan& plan, const LoaderOptions& given) {
  EngineOptions options;
  options.stall_warning_s = given.stall_warning_seconds;
  options.skip_errors = given.on_error ? *given.on_error == OnError::kSkip : plan.on_error.skip;
  options.skip_at_most = given.on_error ? given.skip_at_most : plan.on_error.at_most;
  return options;
}

}  // namespace

Result<void> Loader::open() {
  if (engine_) return {};
  STOKER_TRY(prepare());
  ++epochs_;
  if (ahead_ && take_if_next(*plan_, ahead_->passes())) {
    engine_ = std::exchange(ahead_, nullptr);
    return {};
  }
  if (ahead_) std::exchange(ahead_, nullptr)->close();  // another iterator took its pass
  engine_ = Engine::make(plan_, meters_, options_for(*plan_, options_), take_passes(*plan_));
  return {};
}

// When the last ticket of an epoch is out, the next one begins to fill: work
// ahead like any other, dropped if nobody wants it. Functions whose effects
// nobody knows wait until the data set has been iterated twice.
void Loader::fill_next_epoch() {
  if (ahead_ || !engine_->all_issued() || (plan_->calls_user && epochs_ < 2)) return;
  ahead_ = Engine::make(plan_, meters_, options_for(*plan_, options_), next_passes(*plan_));
  ahead_->begin();
}

Result<std::optional<Element>> Loader::next() {
  if (closed_ || told_) return std::optional<Element>();
  if (Result<void> opened = open(); !opened) {
    told_ = true;  // once; what follows is the end
    return std::move(opened).error();
  }
  Result<std::optional<Element>> element = engine_->next();
  fill_next_epoch();
  return element;
}

void Loader::begin_epoch() {
  if (engine_) engine_->close();
  engine_.reset();
}

Loader::Iterator& Loader::Iterator::operator++() {
  Result<std::optional<Element>> next = loader_->next();
  if (!next) throw std::move(next).error();
  element_ = *std::move(next);
  return *this;
}

Loader::Iterator Loader::begin() {
  begin_epoch();
  return Iterator(this);
}

Result<std::string> Loader::save() {
  if (closed_) return Error::precondition("a closed loader has no place to save");
  STOKER_TRY(open());
  STOKER_TRY(Json json, engine_->save());
  return json.text();
}

Result<void> Loader::restore(std::string_view checkpoint) {
  if (closed_) return Error::precondition("a closed loader cannot go on from a checkpoint");
  STOKER_TRY(prepare());
  STOKER_TRY(Json json, parse_json(checkpoint));
  STOKER_TRY(Passes passes, restore_head(*plan_, json));
  begin_epoch();
  if (ahead_) std::exchange(ahead_, nullptr)->close();
  // Seeds are read when a graph is lowered: lower it again with those restored.
  plan_.reset();
  STOKER_TRY(prepare());
  engine_ = Engine::make(plan_, meters_, options_for(*plan_, options_), std::move(passes));
  Result<void> restored = engine_->restore(json);
  if (!restored) begin_epoch();  // half of a place is none
  return restored;
}

std::string Loader::stats() { return engine_ ? engine_->stats().text() : "{}"; }

std::vector<Skipped> Loader::skipped() {
  std::vector<Skipped> all;
  if (engine_)
    for (SkippedElement& one : engine_->skipped()) all.push_back({std::move(one.origin), std::move(one.error)});
  return all;
}

double Loader::wait_seconds() const { return engine_ ? static_cast<double>(engine_->consumer_wait_ns()) * 1e-9 : 0; }

void Loader::close() {
  if (ahead_) ahead_->close_and_wait();
  if (engine_) engine_->close_and_wait();
  ahead_.reset();
  engine_.reset();
  closed_ = true;
}

void configure(const Resources& resources) {
  if (resources.memory_bytes) Budget::process().set_limit(*resources.memory_bytes);
  if (resources.workers) Pool::process().set_workers(*resources.workers);
}

MemoryUse memory_use() {
  const Budget& budget = Budget::process();
  return {budget.used(), budget.peak(), budget.limit()};
}

}  // namespace stoker
