// What the engine measures, how windows follow from it, and what is told.
#include <algorithm>

#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/task.h"

namespace stoker {
namespace {

constexpr int64_t kTuneEvery = 50'000'000;
constexpr int64_t kSlowToShrink = 10'000'000'000;

std::string written_at(const Meter& meter) {
  return meter.location.empty() ? "" : " (written at " + meter.location + ")";
}

std::shared_ptr<CacheStore> kept_by(const Node& cache) {
  const MutexLock lock(cache.state->mutex);
  return std::static_pointer_cast<CacheStore>(cache.state->cache);
}

}  // namespace

std::string Engine::tick(int64_t now) {
  const MutexLock lock(mutex_);
  if (stopped_ || !root_) return {};
  for (Segment* segment : order_) {
    sample(*segment);
    if (now - last_tuned_ns_ < kTuneEvery) continue;
    const size_t before = segment->capacity;
    tune(*segment, now);
    if (segment->capacity > before) note_work(*segment);
  }
  if (now - last_tuned_ns_ >= kTuneEvery) last_tuned_ns_ = now;
  if (waiting_since_ == 0 || stall_told_ || now - waiting_since_ < tell_after_ns()) return {};
  stall_told_ = true;
  return "stoker: the consumer has waited " + std::to_string((now - waiting_since_) / 1'000'000'000) + " s for " +
         awaited() + ", after " + std::to_string(delivered_elements_.load()) + " elements";
}

// What the consumer's path ends at: the stage, the element, where it was written.
std::string Engine::awaited() const {
  const Segment* segment = root_->root;
  while (segment->window.empty() && !segment->line_busy && segment->blocked_on) segment = segment->blocked_on;
  if (segment->window.empty() || segment->plan.steps.empty() || segment->head_ready()) {
    const Meter& meter = *segment->line_meter();
    return meter.path + ", element " + std::to_string(segment->issued) + written_at(meter);
  }
  const Ticket& head = *segment->window.front();
  const Meter& meter = *segment->plan.steps[head.step].meter;
  return meter.path + " at " + origin_of(*segment, head) + written_at(meter);
}

// Of the row it has come to. Maps leave origins alone while they run; what is
// being fetched or filtered is told by its number.
std::string Engine::origin_of(const Segment& segment, const Ticket& ticket) const {
  const int32_t row = std::clamp(ticket.row.load(), 0, ticket.rows - 1);
  const bool fetched = ticket.step > 0;
  if (segment.plan.filters || (!fetched && ticket.input.names()))
    return "element " + std::to_string(ticket.first + row);
  Error error = Error::internal("");
  annotate(error, *plan_->node, (fetched ? ticket.run : ticket.input).origins.at(row), &plan_->sources);
  return error.place().origin;
}

void Engine::sample(Segment& segment) {
  Meter& meter = segment.plan.steps.empty() ? *segment.plan.meter : *segment.plan.steps.back().meter;
  if (segment.running > 0 || segment.line_busy)
    ++meter.working_samples;
  else if (segment.window.size() >= segment.capacity)
    ++meter.blocked_samples;
  else
    ++meter.starved_samples;
  size_t done = 0;
  for (const auto& ticket : segment.window) done += ticket->state == Ticket::State::kDone;
  segment.least_done = std::min(segment.least_done, done);
  segment.undeliverable = segment.head_ready() ? 0 : static_cast<int64_t>(done);
}

// A window that ran empty grows if it had been full: more could have been made
// ahead. One that is never full is limited by the work. It shrinks when more
// than half of it was never needed, long after the last time it ran empty: what
// makes it run empty may be rare.
void Engine::tune(Segment& segment, int64_t now) {
  const size_t least = std::max<size_t>(2, static_cast<size_t>(std::max<int64_t>(0, segment.plan.at_least)));
  if (segment.drained) {
    segment.capacity = std::min(kMostTickets, segment.capacity * 2);
    segment.was_full = segment.drained = false;
    segment.drained_ns = now;
  } else if (now - segment.drained_ns > kSlowToShrink && segment.least_done != SIZE_MAX &&
             segment.least_done > segment.capacity / 2) {
    segment.capacity = std::max(least, segment.capacity - std::max<size_t>(1, segment.capacity / 16));
  }
  segment.least_done = SIZE_MAX;
}

// Work ahead leaves room for one element on the path, the largest so far.
void Engine::reserve(int64_t element_bytes) {
  if (element_bytes <= reserved_) return;
  Budget::process().reserve(element_bytes - reserved_);
  reserved_ = element_bytes;
}

Json Engine::stats() {
  Json json = running_json();
  json.set("held", held_json());
  return json;
}

Json Engine::running_json() {
  const MutexLock lock(mutex_);
  Json json = Json::dict();
  const int64_t elapsed = now_ns() - begun_ns_;
  json.set("elements", delivered_elements_.load());
  json.set("seconds", static_cast<double>(elapsed) * 1e-9);
  json.set("wait_seconds", static_cast<double>(wait_ns_.load()) * 1e-9);
  json.set("skipped", skipped_count_);
  json.set("held_bytes", static_cast<EngineAccount&>(*account_).held());
  json.set("budget_bytes", Budget::process().limit());
  json.set("workers", int64_t{Pool::process().workers()});
  Json stages = Json::list();
  for (const Meter* meter : meters_->all()) stages.push(meter_json(*meter));
  json.set("stages", std::move(stages));
  Json windows = Json::list();
  for (const Segment* segment : order_) {
    Json window = Json::dict();
    window.set("stages", segment->plan.words);
    window.set("capacity", static_cast<int64_t>(segment->capacity));
    window.set("fill", static_cast<int64_t>(segment->window.size()));
    window.set("done_behind_head", segment->undeliverable);
    window.set("run_rows", segment->run_rows);
    windows.push(std::move(window));
  }
  json.set("windows", std::move(windows));
  return json;
}

// What shuffles and caches hold, and will hold when they are full.
Json Engine::held_json() const {
  Json all = Json::list();
  const auto add = [&](const std::string& stage, int64_t elements, int64_t bytes, int64_t in_all, bool kept) {
    Json json = Json::dict();
    json.set("stage", stage);
    json.set("elements", elements);
    json.set("bytes", bytes);
    json.set("elements_in_all", in_all);
    json.set("drops_what_does_not_fit", !kept);
    all.push(std::move(json));
  };
  const auto is_known = [](int64_t length) { return length > 0 && length < kEndless; };
  for (const Meter* meter : meters_->all())
    if (const int64_t in_all = meter->held_in_all.load(); is_known(in_all))
      add(meter->path, meter->held_elements.load(), meter->held_bytes.load(), in_all, true);
  for (const auto& node : plan_->caches) {
    const std::shared_ptr<CacheStore> store = kept_by(*node);
    if (store && is_known(store->expected)) add(node->name, store->elements(), store->bytes(), store->expected, false);
  }
  return all;
}

Json Engine::meter_json(const Meter& meter) {
  Json json = Json::dict();
  json.set("stage", meter.path);
  json.set("elements", meter.rows.load());
  json.set("runs", meter.runs.load());
  json.set("bytes", meter.bytes.load());
  json.set("busy_seconds", static_cast<double>(meter.busy_ns.load()) * 1e-9);
  json.set("mean_ns", meter.mean_ns());
  json.set("spread_ns", meter.spread_ns());
  const auto working = meter.working_samples.load();
  const auto starved = meter.starved_samples.load();
  const auto blocked = meter.blocked_samples.load();
  const auto all = static_cast<double>(std::max<int64_t>(1, working + starved + blocked));
  json.set("working", static_cast<double>(working) / all);
  json.set("starved", static_cast<double>(starved) / all);
  json.set("blocked", static_cast<double>(blocked) / all);
  json.set("waits", meter.waits.load());
  json.set("at_once", meter.at_once.load());
  json.set("user", meter.user.load());
  json.set("measured_seconds", static_cast<double>(meter.measured_ns.load()) * 1e-9);
  json.set("on_cpu_seconds", static_cast<double>(meter.measured_cpu_ns.load()) * 1e-9);
  return json;
}

}  // namespace stoker
