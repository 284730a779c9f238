#include "stoker/runtime/schedule.h"

#include <algorithm>

#include "stoker/runtime/pool.h"

namespace stoker {
namespace {

// The maximum number of calls of a stage without num_parallel_calls, and of lines of one iterator, that run on waiting
// threads at the same time. The process has no limit: calls of one loader that never return could exhaust it and block
// every other loader.
constexpr int32_t kMostWaitingCalls = 64;

int64_t most_calls(const StepPlan& step, bool waits) {
  if (step.parallel > 0) return step.parallel;
  return waits ? kMostWaitingCalls : INT64_MAX;
}

}  // namespace

bool Schedule::is_alone() const { return alone_ || Pool::process().workers() == 0; }

// ---- the open segments

void Schedule::add(const Instance& instance) {
  for (const auto& segment : instance.segments) {
    segment->scheduled.number = ++numbered_;
    order_.insert(segment.get());
    note_work(*segment);
  }
}

void Schedule::remove(Segment& segment) {
  order_.erase(&segment);
  for_workers_.erase(&segment);
  for_waiters_.erase(&segment);
}

void Schedule::clear() {
  order_.clear();
  for_workers_.clear();
  for_waiters_.clear();
}

// ---- which piece is next

Piece Schedule::pick(ThreadKind kind, Segment* awaited) {
  if (is_alone() && kind != ThreadKind::kConsumer) return {};
  if (awaited)
    if (Piece piece = pick_demand(kind, *awaited)) return piece;
  Segments& listed = kind == ThreadKind::kWaiter ? for_waiters_ : for_workers_;
  for (auto at = listed.begin(); at != listed.end();) {
    Segment& segment = **at;
    at = has_work_for(segment, kind) ? std::next(at) : drop(listed, at);
    if (kind == ThreadKind::kWaiter) segment.scheduled.waiter_called = false;
    if (Piece piece = pick_in(segment, kind)) return piece;
  }
  return {};
}

Piece Schedule::pick_in(Segment& segment, ThreadKind kind) {
  if (kind != ThreadKind::kWaiter || segment.has_waiting_step()) {
    for (const auto& [first, ticket] : segment.window.queued())
      if (may_run(segment, *ticket, kind)) {
        if (!admit(segment, *ticket)) break;
        return started({.segment = &segment, .ticket = ticket}, kind);
      }
  }
  if (!segment.line_ready() || !line_may_run(segment, kind)) return {};
  if (!segment.has_space()) {
    segment.note_full();
    return {};
  }
  if (!admit_line(segment)) return {};
  return started({.segment = &segment}, kind);
}

Piece Schedule::pick_demand(ThreadKind kind, Segment& awaited) {
  Segment* segment = &awaited;
  while (true) {
    if (!segment->window.empty()) {
      Ticket& head = segment->window.head();
      if (head.state == Ticket::State::kDone) return {};  // the consumer is about to take it
      head.demand = true;
      if (head.state == Ticket::State::kRunning || !may_run(*segment, head, kind)) return {};
      return started({.segment = segment, .ticket = &head, .demand = true}, kind);
    }
    if (segment->line_busy || segment->line_ended || segment->closed) return {};
    if (!segment->line_ready()) {
      segment = segment->blocked_on;
      continue;
    }
    if (!line_may_run(*segment, kind)) return {};
    return started({.segment = segment, .demand = true}, kind);
  }
}

bool Schedule::may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const {
  const StepPlan& step = segment.plan.steps[ticket.step];
  const bool waits = step.meter->waits.load(std::memory_order_relaxed);
  const bool alone = is_alone();
  if (kind == ThreadKind::kWaiter && !waits) return false;
  if (kind == ThreadKind::kWorker && waits) return false;
  if (kind == ThreadKind::kConsumer && !alone && (waits || segment.calls_user(ticket.step))) return false;
  if (step.serial() && !segment.window.is_turn_of(ticket)) return false;
  return step.meter->calls.load(std::memory_order_relaxed) < most_calls(step, waits);
}

bool Schedule::line_may_run(const Segment& segment, ThreadKind kind) const {
  if (is_alone()) return true;
  if (kind == ThreadKind::kConsumer && segment.plan.line_user) return false;
  if (kind == ThreadKind::kWaiter && waiting_lines_ >= kMostWaitingCalls) return false;
  return segment.plan.line_waits == (kind == ThreadKind::kWaiter);
}

bool Schedule::admit(const Segment& segment, Ticket& ticket) {
  if (ticket.prepaid > 0) return true;
  const auto guess = static_cast<int64_t>(segment.pace.bytes_per_row * ticket.rows);
  const int64_t bytes = std::max(guess, ticket.bytes);
  // Until a size is known, one ticket runs at a time. User functions are exempt, because their calls may wait for each
  // other.
  if (bytes == 0)
    return segment.pace.bytes_per_row > 0 || segment.running == 0 || segment.window.was_read() ||
           segment.calls_user(ticket.step);
  if (!Budget::process().try_take(bytes)) return false;
  ticket.prepaid = bytes;
  return true;
}

bool Schedule::admit_line(const Segment& segment) {
  if (segment.plan.yields_positions) return true;
  // Elements from lines cannot be dropped and recomputed, so they may take at most half of the budget.
  const Budget& budget = Budget::process();
  const auto guess = static_cast<int64_t>(segment.pace.bytes_per_row * static_cast<double>(segment.rows_per_run()));
  if (budget.used() + guess <= budget.limit() / 2) return true;
  Budget::process().note_refusal();
  return false;
}

// ---- pieces in progress

Piece Schedule::started(Piece piece, ThreadKind kind) {
  Segment& segment = *piece.segment;
  ++running_;
  if (segment.instance.is_child()) piece.alive = segment.instance.shared_from_this();
  if (piece.ticket) {
    start_ticket(segment, *piece.ticket, piece.demand);
    return piece;
  }
  segment.scheduled.waiter_called = false;
  segment.line_busy = true;
  if (kind == ThreadKind::kWaiter) ++waiting_lines_;
  piece.most = segment.rows_per_run() * segment.runs_per_pull();
  piece.first = segment.window.issued();
  return piece;
}

void Schedule::start_ticket(Segment& segment, Ticket& ticket, bool demand) {
  if (demand) ticket.demand = true;
  segment.window.start(ticket);
  ++segment.running;
  note_started(segment);
  ++segment.plan.steps[ticket.step].meter->calls;
  ticket.counts = true;
}

bool Schedule::continue_with(const Piece& pulled, Ticket& issued, ThreadKind kind) {
  if (!may_run(*pulled.segment, issued, kind)) return false;
  if (!pulled.demand && !admit(*pulled.segment, issued)) return false;
  start_ticket(*pulled.segment, issued, pulled.demand);
  return true;
}

bool Schedule::continue_step(Segment& segment, Ticket& ticket, ThreadKind kind) {
  segment.window.advance(ticket);
  if (!may_run(segment, ticket, kind)) return false;
  ++segment.plan.steps[ticket.step].meter->calls;
  ticket.counts = true;
  return true;
}

void Schedule::end_pull(Segment& segment, ThreadKind kind) {
  if (kind == ThreadKind::kWaiter) --waiting_lines_;
  segment.line_busy = false;
  segment.blocked_on = nullptr;
}

void Schedule::end_line(Segment& segment) {
  segment.line_ended = true;
  note_started(segment);
}

void Schedule::note_started(const Segment& segment) {
  if (segment.line_ended && segment.window.queued().empty() && segment.rank == 0) flags_.all_started = true;
}

// ---- segments that may have work

void Schedule::note_work(Segment& segment) {
  if (segment.closed) return;
  const bool has_steps = !segment.plan.steps.empty(), line_waits = segment.plan.line_waits;
  ScheduleState& state = segment.scheduled;
  if ((has_steps || !line_waits) && !std::exchange(state.listed_for_workers, true)) for_workers_.insert(&segment);
  if ((has_steps || line_waits) && !std::exchange(state.listed_for_waiters, true)) for_waiters_.insert(&segment);
}

// A closed segment may outlive the downstream segment to which `feeds` points.
void Schedule::note_result(const Segment& segment) {
  if (!segment.closed && segment.feeds) note_work(*segment.feeds);
}

bool Schedule::has_work() {
  return !flags_.stopped &&
         (has_work_in(for_workers_, ThreadKind::kWorker) || has_work_in(for_waiters_, ThreadKind::kWaiter));
}

bool Schedule::has_work_in(Segments& listed, ThreadKind kind) {
  auto at = listed.begin();
  while (at != listed.end() && !has_work_for(**at, kind)) at = drop(listed, at);
  return at != listed.end();
}

// A queued ticket counts as work for both kinds of threads, because a stage can become waiting or computing at any
// time.
bool Schedule::has_work_for(const Segment& segment, ThreadKind kind) {
  if (!segment.window.queued().empty()) return true;
  const bool runs_line = segment.plan.line_waits == (kind == ThreadKind::kWaiter);
  return runs_line && segment.line_ready() && segment.has_space();
}

Schedule::Segments::iterator Schedule::drop(Segments& listed, Segments::iterator at) {
  Segment& segment = **at;
  segment.note_full();
  ScheduleState& state = segment.scheduled;
  if (&listed == &for_waiters_) state.waiter_called = false;
  (&listed == &for_waiters_ ? state.listed_for_waiters : state.listed_for_workers) = false;
  return listed.erase(at);
}

// ---- waiting threads

int Schedule::call_waiters_again(int most) {
  for (Segment* segment : for_waiters_) segment->scheduled.waiter_called = false;
  return call_waiters(most);
}

int Schedule::call_waiters(int most) {
  if (flags_.stopped || is_alone()) return 0;
  int found = 0;
  for (auto at = for_waiters_.begin(); at != for_waiters_.end();) {
    Segment& segment = **at;
    if (found >= most) return most;
    at = has_work_for(segment, ThreadKind::kWaiter) ? std::next(at) : drop(for_waiters_, at);
    if (segment.plan.line_waits && !segment.scheduled.waiter_called && segment.line_ready() &&
        segment.has_space_to_wake_for()) {
      segment.scheduled.waiter_called = true;
      ++found;
    }
    if (!segment.window.queued().empty() && segment.has_waiting_step()) found += waiting_tickets(segment, most - found);
  }
  return std::min(found, most);
}

// Returns the number of queued tickets, up to `most`, that need a waiting thread. Calls beyond the limit of a step do
// not count.
int Schedule::waiting_tickets(const Segment& segment, int most) {
  int found = 0;
  std::map<const Meter*, int64_t> calls;
  for (const auto& [first, ticket] : segment.window.queued()) {
    if (found >= most) return most;
    const StepPlan& step = segment.plan.steps[ticket->step];
    if (!step.meter->waits.load(std::memory_order_relaxed)) continue;
    const int64_t more = ++calls[step.meter];
    if (step.meter->calls.load(std::memory_order_relaxed) + more <= most_calls(step, true)) ++found;
  }
  return found;
}

}  // namespace stoker
