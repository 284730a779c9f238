#include "stoker/runtime/engine.h"

#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/slab.h"
#include "stoker/runtime/stats.h"
#include "stoker/runtime/task.h"

namespace stoker {

// ---- creation and shutdown

Engine::Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options,
               EpochPasses epoch)
    : plan_(std::move(plan)),
      meters_(std::move(meters)),
      options_(options),
      account_(std::make_shared<EngineAccount>()),
      consumer_(*this, flags_, std::move(epoch)),
      schedule_(flags_, options.alone) {}

std::shared_ptr<Engine> Engine::make(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters,
                                     EngineOptions options, Passes passes) {
  EpochPasses epoch = unusual_passes(*plan, passes);
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), std::move(meters), options, std::move(epoch)));
  auto root = std::make_shared<Instance>();
  root->engine = engine.get();
  root->plan = engine->plan_;
  root->passes = std::move(passes);
  root->make = {&root->passes, nullptr, &engine->plan_->sources, &engine->flags_.stopped};
  root->root = &root->add_segment(*engine->plan_->root, 0);
  const EngineLock lock(engine->mutex_);
  engine->root_ = root;
  engine->schedule_.add(*root);
  return engine;
}

// Lines are destroyed first: they close their children, which uses the other members.
Engine::~Engine() {
  schedule_.clear();
  root_.reset();
  Budget::process().reserve(-reserved_);
}

void Engine::begin() {
  if (begun_.load(std::memory_order_relaxed) || begun_.exchange(true) || options_.alone) return;
  Pool::process().add(shared_from_this());
}

void Engine::stop() {
  flags_.stopped = true;
  Pool::process().remove(this);
  const EngineLock lock(mutex_);
  for (Segment* segment : schedule_.segments()) {
    segment->window.forget_queued();
    segment->keep_tuning();
  }
  consumer_.wake_to_stop();
}

void Engine::release_by(std::chrono::steady_clock::time_point deadline) {
  mutex_.lock();
  while (schedule_.running() > 0 && mutex_.wait_until(piece_done_, deadline) == std::cv_status::no_timeout) {
  }
  if (schedule_.running() == 0)
    release();
  else
    abandon();
}

// Called if a call has not returned in time. Frees everything that no call in progress uses. The rest is freed when the
// last of these calls returns.
void Engine::abandon() {
  std::vector<std::unique_ptr<Ticket>> tickets;
  std::vector<std::unique_ptr<LineNode>> lines;
  std::vector<std::shared_ptr<Slab>> slabs;
  for (Segment* segment : schedule_.segments()) {
    segment->window.drop_idle(tickets);
    for (const auto& ticket : segment->window.tickets())
      if (ticket->counts.exchange(false))  // other iterators share the meter and its limit on calls
        --segment->plan.steps[ticket->step].meter->calls;
    slabs.push_back(segment->window.take_slab());
    if (!segment->line_busy) lines.push_back(std::move(segment->line));
  }
  mutex_.unlock();
  // Destroying a line closes its children, which acquires the lock, and frees their instances. The lines of children
  // come after the line that opened them, so they must be destroyed first.
  while (!lines.empty()) lines.pop_back();
  consumer_.drop_undelivered();
}

void Engine::release_when_done() {
  mutex_.lock();
  while (schedule_.running() > 0) {
    mutex_.wait_for(piece_done_, kInterruptCheckInterval);
    if (schedule_.running() == 0 || !options_.interrupted) continue;
    mutex_.unlock();
    const bool interrupted = consumer_.is_interrupted_now();
    mutex_.lock();
    if (interrupted) return abandon();
  }
  release();
}

// Frees the contents of the windows. Children are freed with the lines that opened them.
void Engine::release() {
  if (std::exchange(released_, true)) return mutex_.unlock();
  std::shared_ptr<Instance> root = std::move(root_);
  schedule_.clear();
  mutex_.unlock();
  root.reset();
  consumer_.drop_undelivered();
}

// ---- the consumer

Result<std::optional<Element>> Engine::next() {
  if (is_running_here())
    return Error::precondition(
        "next() was called by a function that this iterator is running, and would wait for it to return; "
        "iterate another dataset in the function");
  return consumer_.next();
}

bool Engine::is_running_here() const { return RunningScope::covers(*this); }

void Engine::note_pass(int32_t source, int64_t pass) {
  std::shared_ptr<Instance> root;
  {
    const EngineLock lock(mutex_);
    root = root_;
  }
  if (root) raise_passes(*plan_, root->passes, source, pass);
}

// Wakes the consumer only if its result or the end is available: workers run the pieces on its path. Without workers,
// the consumer is woken after every piece. Such a piece may finish on a thread that was a worker until recently, and
// only the consumer runs the next one.
void Engine::wake_consumer() {
  if (!flags_.consumer_waiting || !root_) return;
  const Segment& last = *root_->root;
  if (last.head_ready() || last.at_end() || schedule_.is_alone()) consumer_.wake();
}

// ---- opened datasets

std::shared_ptr<Instance> Engine::open(const SegmentPlan& root_plan, std::shared_ptr<const Plan> plan,
                                       const Instance& outer, int64_t pass, std::shared_ptr<const Level> level,
                                       std::string path, int rank) {
  auto child = std::make_shared<Instance>();
  child->engine = this;
  child->path = std::move(path);
  // A pass of a repeat has the pass numbers of the outer graph. A nested graph counts its passes from 0.
  child->passes = plan == outer.plan ? outer.passes : Passes();
  child->pass = pass;
  child->plan = std::move(plan);
  child->make = MakeContext{&child->passes, nullptr, &plan_->sources, &flags_.stopped}.at(std::move(level));
  child->root = &child->add_segment(root_plan, rank);
  const EngineLock lock(mutex_);
  schedule_.add(*child);
  return child;
}

void Engine::close(Instance& instance) {
  std::vector<std::unique_ptr<Ticket>> dropped;  // freed outside the lock
  const EngineLock lock(mutex_);
  if (std::exchange(instance.closed, true)) return;
  for (const auto& segment : instance.segments) {
    segment->closed = true;
    segment->keep_tuning();
    segment->window.forget_queued();
    schedule_.remove(*segment);
    segment->window.drop_idle(dropped);
  }
}

bool Engine::line_ended(const Segment& segment) {
  const EngineLock lock(mutex_);
  return segment.line_ended;
}

// ---- checkpoints

Result<Json> Engine::save() {
  read_fingerprint(*plan_);  // reads files, so it must not run under the lock
  DeferredParts deferred;
  STOKER_TRY(Json json, cut(deferred));
  STOKER_TRY(json, deferred.fill(std::move(json)));
  return json;
}

Result<Json> Engine::cut(DeferredParts& deferred) {
  const EngineLock lock(mutex_);
  if (!root_ || flags_.stopped)
    return Error::precondition("a closed loader has no position to save; call save() before close()");
  Json json = checkpoint_head(*plan_, root_->passes);
  const int64_t delivered_rows = consumer_.save(json);
  STOKER_TRY(Json cut, root_->root->cut(delivered_rows, deferred));
  json.set("cut", std::move(cut));
  return json;
}

Result<void> Engine::restore(const Json& checkpoint) {
  const Json* cut = checkpoint.find("cut");
  if (!cut) return Error::invalid("the checkpoint is damaged: expected a key \"cut\", found none");
  consumer_.restore(checkpoint);
  std::shared_ptr<Instance> root;
  {
    const EngineLock lock(mutex_);
    root = root_;
  }
  const RunningScope here(*this);
  return root->root->restore(*cut);
}

// ---- memory, statistics and reports

// Prefetch work leaves space for one element on the path, of the largest size so far.
void Engine::reserve(int64_t element_bytes) {
  if (element_bytes <= reserved_) return;
  Budget::process().reserve(element_bytes - reserved_);
  reserved_ = element_bytes;
}

int64_t Engine::reclaim(int64_t bytes) {
  Runs dropped;
  int64_t freed = 0;
  if (!mutex_.try_lock()) return 0;
  // Results that are delivered last are dropped first: those at the end of the windows furthest upstream.
  const Schedule::Segments& all = schedule_.segments();
  for (auto at = all.rbegin(); at != all.rend() && freed < bytes; ++at) {
    Segment& segment = **at;
    const size_t queued_before = segment.window.queued().size();
    freed += segment.window.reclaim(bytes - freed, dropped);
    if (segment.window.queued().size() > queued_before) schedule_.note_work(segment);
  }
  mutex_.unlock();
  return freed;
}

LoaderStats Engine::stats() {
  LoaderStats stats{.elements = delivered(),
                    .seconds = static_cast<double>(now_ns() - made_ns_) * 1e-9,
                    .wait_seconds = static_cast<double>(consumer_.wait_ns()) * 1e-9,
                    .skipped = consumer_.failures().skipped_count(),
                    .held_bytes = static_cast<EngineAccount&>(*account_).held() + cached_bytes(*plan_),
                    .budget_bytes = Budget::process().limit(),
                    .workers = Pool::process().workers(),
                    .stages = stage_stats(*meters_),
                    .held = held_stats(*meters_, *plan_)};
  const EngineLock lock(mutex_);
  stats.windows = window_stats(schedule_);
  return stats;
}

std::string Engine::tick(int64_t now) {
  const EngineLock lock(mutex_);
  if (flags_.stopped || !root_) return {};
  tuner_.sample_and_tune(schedule_, now);
  const int64_t stalled_ns = consumer_.stalled_ns(now, report_after_ns());
  if (stalled_ns == 0) return {};
  return "stoker: the consumer has waited " + std::to_string(stalled_ns / 1'000'000'000) + " s for " +
         awaited_by(*root_->root, *plan_) + ", after " + std::to_string(delivered()) + " elements";
}

}  // namespace stoker
