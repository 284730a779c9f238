#include "stoker/runtime/segment.h"

#include <algorithm>

#include "stoker/runtime/lines.h"
#include "stoker/runtime/pool.h"

namespace stoker {
namespace {

// A run has as many rows as make about 100 µs of work.
constexpr double kRunNs = 100'000;
constexpr double kSmallRunBytes = 256 << 10;
// A run of more than one row takes at most 1/64 of the budget.
constexpr double kRunBudgetDivisor = 64;

// The number of queued tickets that keep all workers busy.
size_t enough_queued() { return 4 * (static_cast<size_t>(Pool::process().workers()) + 1); }

}  // namespace

void Pace::note_time(int64_t ns, int32_t rows) {
  const double each = static_cast<double>(std::max<int64_t>(ns, 1)) / rows;
  ns_per_row = ns_per_row == 0 ? each : ns_per_row * 0.8 + each * 0.2;
  const auto fit = static_cast<int64_t>(kRunNs / ns_per_row);
  run_rows = std::clamp<int64_t>(std::min(fit, run_rows * 8), 1, kMostRunRows);
}

void Pace::note_bytes(int64_t bytes, int32_t rows) {
  bytes_per_row = std::max(bytes_per_row * 0.99, static_cast<double>(bytes) / rows);
}

Segment::Segment(Engine& engine_in, Instance& instance_in, const SegmentPlan& plan_in, int rank_in)
    : engine(engine_in), instance(instance_in), plan(plan_in), rank(rank_in), window(plan_in) {
  const auto workers = static_cast<size_t>(std::max(1, Pool::process().workers()));
  // The window of a segment with steps is large enough to keep all workers busy. Without steps, its tickets are ready
  // as soon as they are issued, and two are enough.
  size_t& capacity = tuning.capacity;
  capacity = plan.steps.empty() ? 2 : 2 * workers + 2;
  capacity = std::max(capacity, least_capacity());
  if (const size_t tuned = plan.meter->tuned_capacity.load()) capacity = std::max(capacity, tuned);
  if (const int64_t rows = plan.meter->tuned_run_rows.load()) pace.run_rows = rows;
  pace.ns_per_row = plan.meter->tuned_ns_per_row.load();
  pace.bytes_per_row = plan.meter->tuned_bytes_per_row.load();
}

void Segment::keep_tuning() const {
  plan.meter->tuned_capacity = tuning.capacity;
  plan.meter->tuned_run_rows = pace.run_rows;
  plan.meter->tuned_ns_per_row = pace.ns_per_row;
  plan.meter->tuned_bytes_per_row = pace.bytes_per_row;
}

// ---- the line

bool Segment::line_ready() const {
  if (closed || line_busy || line_ended) return false;
  return !blocked_on || blocked_on->head_ready() || blocked_on->at_end();
}

int64_t Segment::rows_per_run() const {
  // Without steps downstream of the line, rows take almost no time, so a run has as many as fit into its bytes.
  int64_t rows = pace.run_rows;
  if (plan.steps.empty() && pace.bytes_per_row > 0)
    rows = std::clamp<int64_t>(static_cast<int64_t>(kSmallRunBytes / pace.bytes_per_row), 1, kMostRunRows);
  // A call that sleeps then delays only its own row, and with num_parallel_calls, this many calls can be in progress.
  for (const StepPlan& step : plan.steps)
    if (step.user && (step.parallel > 0 || step.meter->sleeps.load(std::memory_order_relaxed))) rows = 1;
  if (pace.bytes_per_row > 0) {
    const double most_bytes = static_cast<double>(Budget::process().limit()) / kRunBudgetDivisor;
    const auto most_rows = static_cast<int64_t>(most_bytes / pace.bytes_per_row);
    rows = std::clamp<int64_t>(rows, 1, std::max<int64_t>(most_rows, 1));
  }
  const int64_t batch = plan.rows;
  if (batch <= 0) return rows;
  // A run ends at the end of a batch: of its own batch, or of the last of several small ones.
  const int64_t in_batch = window.rows_in_batch();
  if (in_batch == 0 && rows > batch) return rows / batch * batch;
  // If more than half of the batch's remaining rows fit, the run takes all of them, so that no small run remains.
  const int64_t left = batch - in_batch;
  return rows > left / 2 && rows > 1 ? left : std::min(rows, left);
}

// One pull of a line creates several tickets if each is little work.
int64_t Segment::runs_per_pull() const {
  if (!plan.yields_positions || pace.ns_per_row == 0) return 1;
  const double run_ns = pace.ns_per_row * static_cast<double>(rows_per_run());
  const auto unused = static_cast<int64_t>(capacity_now()) - static_cast<int64_t>(window.size());
  return std::clamp<int64_t>(static_cast<int64_t>(kRunNs / 2 / run_ns), 1, std::max<int64_t>(1, unused));
}

Ticket* Segment::issue(Pulled pulled) {
  if (pulled.is_end_error) return window.issue_end(std::move(pulled.run));
  Run& run = pulled.run;
  if (run.size <= rows_per_run()) return issue_one(std::move(run));
  Ticket* first = nullptr;
  for (int32_t at = 0; at < run.size;) {
    const auto rows = static_cast<int32_t>(std::min<int64_t>(run.size - at, rows_per_run()));
    Ticket* issued = issue_one(run.slice(at, rows));
    if (at == 0) first = issued;
    at += rows;
  }
  return first;
}

Ticket* Segment::issue_one(Run run) {
  if (plan.steps.empty() && !run.names()) pace.bytes_per_row = static_cast<double>(run.byte_size()) / run.size;
  return window.issue(std::move(run));
}

Meter* Segment::line_meter() const {
  const LinePlan* at = plan.line.get();
  while (!at->inputs.empty() && at->inputs[0]->meter) at = at->inputs[0].get();
  return at->meter ? at->meter : plan.meter;
}

// ---- the steps

bool Segment::calls_user(size_t from_step) const {
  for (size_t i = from_step; i < plan.steps.size(); ++i)
    if (plan.steps[i].user) return true;
  return false;
}

bool Segment::has_waiting_step() const {
  return std::ranges::any_of(plan.steps,
                             [](const StepPlan& step) { return step.meter->waits.load(std::memory_order_relaxed); });
}

// ---- the window

bool Segment::needs_refill() const {
  const size_t capacity = tuning.capacity;
  const size_t space = running > 0 || line_busy ? capacity / 2 : capacity / 8;
  return window.size() + std::max<size_t>(1, space) <= capacity;
}

size_t Segment::least_capacity() const { return static_cast<size_t>(std::clamp<int64_t>(plan.at_least, 2, 1 << 20)); }

size_t Segment::capacity_now() const { return capacity_with(enough_queued()); }

// While the head of a window is slow, the window may grow until `enough` tickets are queued, so that workers do not
// idle while the budget has space. Calls that wait need a ticket each: the window holds at least
// 2 * num_parallel_calls tickets, or 32 without num_parallel_calls.
size_t Segment::capacity_with(size_t enough) const {
  const bool head_is_slow = !plan.steps.empty() && !window.empty() && !head_ready() && window.queued().size() < enough;
  size_t most = tuning.capacity;
  if (head_is_slow) most = std::max(most, std::min(kMostTickets, most * 32));
  for (const StepPlan& step : plan.steps)
    if (step.meter->waits.load(std::memory_order_relaxed))
      most = std::max(most, static_cast<size_t>(step.parallel > 0 ? 2 * std::min<int64_t>(step.parallel, 1024) : 32));
  return most;
}

// Waking a thread costs as much as reading a record, so the thread is woken only if it can read several.
bool Segment::has_space_to_wake_for() const {
  const size_t capacity = capacity_with(enough_queued() / 2);
  return window.size() < capacity - capacity / 4;
}

// Records that a larger window would have allowed more prefetching. A full window with queued tickets does not limit
// prefetching.
void Segment::note_full() {
  if (line_ready() && !has_space()) tuning.was_full |= window.queued().empty();
}

// ---- checkpoints

Result<Json> Segment::cut(int64_t cursor, DeferredParts& deferred) const {
  Json json = Json::dict();
  const Window::Mark mark = window.mark_at(cursor);
  if (plan.filters) json.set("skip", window.elements_to_skip(mark, cursor));
  if (plan.filters && window.has_ended(cursor)) json.set("ended", true);
  if (calls_user(0)) json.set("types", window.types_to_json());
  STOKER_TRY(Json line_json, line->cut(mark.line, deferred));
  json.set("line", std::move(line_json));
  return json;
}

Result<void> Segment::restore(const Json& json) {
  const Json* line_json = json.find("line");
  if (!line_json) return Error::invalid("the checkpoint is damaged: expected a key \"line\", found none");
  STOKER_TRY(line->restore(*line_json));
  const int64_t rows = saved_count(json, "skip", 0);
  if (rows < 0) return Error::invalid("the checkpoint is damaged: skip ", rows);
  skips_rows = rows > 0;
  const EngineLock lock(engine.mutex());
  if (plan.filters) window.skip_first(rows, saved_part(json, "ended") == Json(true));
  return window.set_types(saved_part(json, "types"));
}

void Segment::prune(int64_t cursor, LineNode::Dropped& dropped) {
  if (!line) return;  // the engine was abandoned
  line->prune(window.prune(cursor).line, dropped);
}

Segment& Instance::add_segment(const SegmentPlan& segment_plan, int rank) {
  auto segment = std::make_unique<Segment>(*engine, *this, segment_plan, rank);
  Segment& added = *segment;
  segments.push_back(std::move(segment));
  const int outer = std::exchange(rank_in_making, rank);
  added.line = segment_plan.line->start(*this, pass);
  rank_in_making = outer;
  return added;
}

}  // namespace stoker
