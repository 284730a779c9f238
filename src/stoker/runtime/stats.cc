#include "stoker/runtime/stats.h"

#include <algorithm>
#include <set>

#include "stoker/runtime/cache_store.h"

namespace stoker {

std::string defined_at(const Meter& meter) {
  return meter.location.empty() ? "" : " (defined at " + meter.location + ")";
}

namespace {

std::shared_ptr<CacheStore> store_of(const Node& cache) {
  const MutexLock lock(cache.state->mutex);
  return std::static_pointer_cast<CacheStore>(cache.state->cache);
}

// Returns the origin of the row that a ticket is processing. Only maps leave the origins of a run unchanged while they
// run. For a row that is being fetched or filtered, the text is its number.
std::string origin_of(const Segment& segment, const Ticket& ticket, const Plan& plan) {
  const int32_t row = std::clamp(ticket.row.load(), 0, ticket.rows - 1);
  const bool fetched = ticket.step > ticket.first_step;
  if (segment.plan.filters || (!fetched && ticket.input.names()))
    return "element " + std::to_string(ticket.first + row);
  Error error = Error::internal("");
  annotate(error, *plan.node, (fetched ? ticket.run : ticket.input).origins.at(row), &plan.sources);
  return error.place().origin;
}

}  // namespace

std::vector<StageStats> stage_stats(const Meters& meters) {
  std::vector<StageStats> all;
  for (const Meter* meter : meters.all()) all.push_back(meter->stats());
  return all;
}

std::vector<WindowStats> window_stats(const Schedule& schedule) {
  std::vector<WindowStats> all;
  for (const Segment* segment : schedule.segments())
    all.push_back({.stages = segment->plan.stages,
                   .capacity = static_cast<int64_t>(segment->tuning.capacity),
                   .fill = static_cast<int64_t>(segment->window.size()),
                   .done_behind_head = segment->tuning.undeliverable,
                   .run_rows = segment->pace.run_rows});
  return all;
}

std::vector<HeldStats> held_stats(const Meters& meters, const Plan& plan) {
  std::vector<HeldStats> all;
  const auto is_known = [](int64_t length) { return length > 0 && length < kEndless; };
  for (const Meter* meter : meters.all())
    if (const int64_t in_all = meter->held_in_all.load(); is_known(in_all))
      all.push_back({meter->path, meter->held_elements.load(), meter->held_bytes.load(), in_all, false});
  for (const auto& node : plan.caches) {
    const std::shared_ptr<CacheStore> store = store_of(*node);
    if (store && is_known(store->expected))
      all.push_back({node->name, store->elements(), store->bytes(), store->expected, true});
  }
  return all;
}

int64_t cached_bytes(const Plan& plan) {
  std::set<std::shared_ptr<CacheStore>> stores;  // a graph can use a node in several places
  for (const auto* nodes : {&plan.caches, &plan.inner_caches})
    for (const auto& node : *nodes) stores.insert(store_of(*node));
  int64_t bytes = 0;
  for (const auto& store : stores) bytes += store ? store->bytes() : 0;
  return bytes;
}

std::string awaited_by(const Segment& last, const Plan& plan) {
  const Segment* segment = &last;
  while (segment->window.empty() && !segment->line_busy && segment->blocked_on) segment = segment->blocked_on;
  if (segment->window.empty() || segment->plan.steps.empty() || segment->head_ready()) {
    const Meter& meter = *segment->line_meter();
    return meter.path + ", element " + std::to_string(segment->window.issued()) + defined_at(meter);
  }
  const Ticket& head = segment->window.head();
  const Meter& meter = *segment->plan.steps[head.step].meter;
  return meter.path + " at " + origin_of(*segment, head, plan) + defined_at(meter);
}

}  // namespace stoker
