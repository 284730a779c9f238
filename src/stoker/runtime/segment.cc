#include "stoker/runtime/segment.h"

#include <algorithm>

#include "stoker/batch/slab.h"
#include "stoker/runtime/pool.h"

namespace stoker {

void Ticket::begin_again() {
  state = State::kQueued;
  settled = false;
  step = first_step;
}

void Ticket::clear() {
  first_step = 0;
  begin_again();
  likes.clear();
  run = Run();
  input = Run();
  row = 0;
  demand = false;
  prepaid = bytes = taken = 0;
  slab.reset();
  slab_row = 0;
}

Segment::Segment(Engine& engine_in, Instance& instance_in, const SegmentPlan& plan_in, int rank_in)
    : engine(engine_in), instance(instance_in), plan(plan_in), rank(rank_in) {
  const auto workers = static_cast<size_t>(std::max(1, Pool::process().workers()));
  // A window with steps behind it keeps all workers busy; one without holds
  // what is ready for the consumer.
  capacity = plan.steps.empty() ? 2 : 2 * workers + 2;
  capacity = std::max(capacity, static_cast<size_t>(std::clamp<int64_t>(plan.at_least, 0, 1 << 20)));
  if (plan.filters) marks.push_back({0, 0});
  likes.resize(plan.steps.size());
  turns.resize(plan.steps.size(), 0);
  if (const size_t tuned = plan.meter->tuned_capacity.load()) capacity = std::max(capacity, tuned);
  if (const int64_t rows = plan.meter->tuned_run_rows.load()) run_rows = rows;
  ns_per_row = plan.meter->tuned_ns_per_row.load();
  bytes_per_row = plan.meter->tuned_bytes_per_row.load();
}

void Segment::keep_tuning() const {
  plan.meter->tuned_capacity = capacity;
  plan.meter->tuned_run_rows = run_rows;
  plan.meter->tuned_ns_per_row = ns_per_row;
  plan.meter->tuned_bytes_per_row = bytes_per_row;
}

std::unique_ptr<Ticket> Segment::new_ticket() {
  if (spare.empty()) return std::make_unique<Ticket>();
  std::unique_ptr<Ticket> ticket = std::move(spare.back());
  spare.pop_back();
  ticket->clear();
  return ticket;
}

void Segment::keep_spare(std::unique_ptr<Ticket> ticket) {
  if (spare.size() < kMostSpare) spare.push_back(std::move(ticket));
}

Result<Json> Segment::cut(int64_t cursor) const {
  Json json = Json::dict();
  int64_t line_cursor = cursor;
  if (plan.filters) {
    auto mark = std::ranges::find_if(marks.rbegin(), marks.rend(), [&](const Mark& m) { return m.out <= cursor; });
    STOKER_CHECK(mark != marks.rend());
    line_cursor = mark->line;
    json.set("skip", cursor - mark->out);
  }
  STOKER_TRY(Json below, line->cut(line_cursor));
  json.set("line", std::move(below));
  return json;
}

Result<void> Segment::restore(const Json& json) {
  const Json* below = json.find("line");
  if (!below) return Error::invalid("the checkpoint is damaged: a line is missing");
  STOKER_TRY(line->restore(*below));
  if (const Json* skip = json.find("skip"); skip && skip->as<int64_t>()) {
    to_skip = *skip->as<int64_t>();
    if (to_skip < 0) return Error::invalid("the checkpoint is damaged: skip ", to_skip);
    marks = {{-to_skip, 0}};
  }
  return {};
}

void Segment::prune(int64_t cursor, LineNode::Dropped& dropped) {
  if (!line) return;  // the engine was abandoned
  if (!plan.filters) return line->prune(cursor, dropped);
  while (marks.size() > 1 && marks[1].out <= cursor) marks.pop_front();
  line->prune(marks.front().line, dropped);
}

Meter* Segment::line_meter() const {
  const LinePlan* at = plan.line.get();
  while (!at->inputs.empty() && at->inputs[0]->meter) at = at->inputs[0].get();
  return at->meter ? at->meter : plan.meter;
}

Segment& Instance::add_segment(const SegmentPlan& segment_plan, int rank) {
  auto segment = std::make_unique<Segment>(*engine, *this, segment_plan, rank);
  Segment& added = *segment;
  segments.push_back(std::move(segment));
  const int outer = std::exchange(rank_in_making, rank);
  added.line = make_line(*segment_plan.line, *this, pass);
  rank_in_making = outer;
  return added;
}

}  // namespace stoker
