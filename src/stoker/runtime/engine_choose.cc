// Which piece of work is next: Engine's choices, made under its lock.
#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"

namespace stoker {
namespace {

constexpr double kSmallRun = 256 << 10;  // bytes
// No single run holds more than this share of the budget, unless it is one row.
constexpr double kRunShare = 64;
// Calls of one unbounded stage, and lines of one iterator, on waiting threads at
// once. Not a limit of the process: a shared one would let the calls of one
// loader, which may never return, keep every other loader waiting.
constexpr int32_t kMostWaiting = 64;

bool has_waiting_step(const Segment& segment) {
  return std::ranges::any_of(segment.plan.steps,
                             [](const StepPlan& step) { return step.meter->waits.load(std::memory_order_relaxed); });
}

}  // namespace

// Without workers, the consumer runs whatever it waits for.
bool Engine::is_alone() const { return options_.alone || Pool::process().workers() == 0; }

bool Engine::may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const {
  const StepPlan& step = segment.plan.steps[ticket.step];
  const bool waits = step.meter->waits.load(std::memory_order_relaxed);
  const bool alone = is_alone();
  if (kind == ThreadKind::kWaiter && !waits) return false;
  if (kind == ThreadKind::kWorker && waits) return false;
  if (kind == ThreadKind::kConsumer && !alone && (waits || calls_user(segment, ticket.step))) return false;
  if (step.serial() && ticket.first > segment.turns[ticket.step]) return false;
  return step.meter->calls.load(std::memory_order_relaxed) < most_calls(step, waits);
}

int64_t Engine::most_calls(const StepPlan& step, bool waits) {
  if (step.parallel > 0) return step.parallel;
  return waits ? kMostWaiting : INT64_MAX;
}

bool Engine::calls_user(const Segment& segment, size_t from) const {
  for (size_t i = from; i < segment.plan.steps.size(); ++i)
    if (segment.plan.steps[i].user) return true;
  return false;
}

bool Engine::line_may_run(const Segment& segment, ThreadKind kind) const {
  if (is_alone()) return true;
  if (kind == ThreadKind::kConsumer && segment.plan.line_user) return false;
  if (kind == ThreadKind::kWaiter && waiting_lines_ >= kMostWaiting) return false;
  return segment.plan.line_waits == (kind == ThreadKind::kWaiter);
}

bool Engine::line_ready(const Segment& segment) {
  if (segment.closed || segment.line_busy || segment.line_ended) return false;
  const Segment* on = segment.blocked_on;
  return !on || on->head_ready() || on->at_end();
}

int64_t Engine::rows_for(const Segment& segment) const {
  // What has no steps behind it takes no time: small elements go together.
  int64_t rows = segment.run_rows;
  if (segment.plan.steps.empty() && segment.bytes_per_row > 0)
    rows = std::clamp<int64_t>(static_cast<int64_t>(kSmallRun / segment.bytes_per_row), 1, kMostRunRows);
  // A call that sleeps holds up nothing but its own row, and where the user
  // gave a number, so many calls can be in progress.
  for (const StepPlan& step : segment.plan.steps)
    if (step.user && (step.parallel > 0 || step.meter->sleeps.load(std::memory_order_relaxed))) rows = 1;
  if (segment.bytes_per_row > 0) {
    const auto fit =
        static_cast<int64_t>(static_cast<double>(Budget::process().limit()) / kRunShare / segment.bytes_per_row);
    rows = std::clamp<int64_t>(rows, 1, std::max<int64_t>(fit, 1));
  }
  const int64_t batch = segment.plan.rows;
  if (batch <= 0) return rows;
  // A run ends where a batch ends: its own, or the last of several small ones.
  const int64_t in_batch = std::max<int64_t>(0, (segment.issued - segment.lost) % batch);
  if (in_batch == 0 && rows > batch) return rows / batch * batch;
  // Nor does one leave a small rest for another.
  const int64_t left = batch - in_batch;
  return rows > left / 2 && rows > 1 ? left : std::min(rows, left);
}

// Tickets of small work are made several at a time.
int64_t Engine::tickets_for(const Segment& segment) const {
  if (!segment.plan.names || segment.ns_per_row == 0) return 1;
  const double each = segment.ns_per_row * static_cast<double>(rows_for(segment));
  const auto room = static_cast<int64_t>(capacity_of(segment)) - static_cast<int64_t>(segment.window.size());
  return std::clamp<int64_t>(static_cast<int64_t>(kRunNs / 2 / each), 1, std::max<int64_t>(1, room));
}

bool Engine::admit(Segment& segment, Ticket& ticket) {
  if (ticket.prepaid > 0) return true;
  const auto guess = static_cast<int64_t>(segment.bytes_per_row * ticket.rows);
  const int64_t bytes = std::max(guess, ticket.bytes);
  if (bytes == 0)  // sizes are not known yet: one at a time, but calls of the user's may need one another
    return segment.bytes_per_row > 0 || segment.running == 0 || segment.popped > 0 || calls_user(segment, ticket.step);
  if (!Budget::process().ask(bytes)) return false;
  ticket.prepaid = bytes;
  return true;
}

bool Engine::admit_line(const Segment& segment) {
  if (segment.plan.names) return true;
  // What lines make cannot be dropped and made again: half the budget is theirs.
  const Budget& budget = Budget::process();
  const auto guess = static_cast<int64_t>(segment.bytes_per_row * static_cast<double>(rows_for(segment)));
  if (budget.used() + guess <= budget.limit() / 2) return true;
  Budget::process().note_refusal();
  return false;
}

void Engine::start(Piece& piece, ThreadKind kind) {
  ++running_;
  if (&piece.segment->instance != root_.get()) piece.alive = piece.segment->instance.shared_from_this();
  if (!piece.ticket) {
    piece.segment->waiter_called = false;
    piece.segment->line_busy = true;
    if (kind == ThreadKind::kWaiter) ++waiting_lines_;
    piece.most = rows_for(*piece.segment) * tickets_for(*piece.segment);
    return;
  }
  Ticket& ticket = *piece.ticket;
  ticket.state = Ticket::State::kRunning;
  if (piece.demand) ticket.demand = true;
  refresh_likes(*piece.segment, ticket);
  ++piece.segment->running;
  piece.segment->queued.erase(ticket.first);
  note_begun(*piece.segment);
  ++piece.segment->plan.steps[ticket.step].meter->calls;
  ticket.counts = true;
}

void Engine::note_begun(const Segment& segment) {
  if (segment.line_ended && segment.queued.empty() && &segment == root_->root) all_begun_ = true;
}

Engine::Piece Engine::pick(ThreadKind kind) {
  if (stopped_) return {};
  if (consumer_waiting_)
    if (Piece piece = pick_demand(kind)) return piece;
  Segments& listed = kind == ThreadKind::kWaiter ? for_waiters_ : for_workers_;
  for (auto at = listed.begin(); at != listed.end();) {
    Segment* const segment = *at;
    at = has_work_for(*segment, kind) ? std::next(at) : drop(listed, at);
    if (kind == ThreadKind::kWaiter) segment->waiter_called = false;
    if (kind != ThreadKind::kWaiter || has_waiting_step(*segment)) {
      for (const auto& [first, ticket] : segment->queued)
        if (may_run(*segment, *ticket, kind)) {
          if (!admit(*segment, *ticket)) break;
          Piece piece{segment, ticket, 1, false, nullptr};
          start(piece, kind);
          return piece;
        }
    }
    if (!line_ready(*segment) || !line_may_run(*segment, kind)) continue;
    if (segment->window.size() >= capacity_of(*segment)) {
      note_full(*segment);
      continue;
    }
    if (!admit_line(*segment)) continue;
    Piece piece{segment, nullptr, 1, false, nullptr};
    start(piece, kind);
    return piece;
  }
  return {};
}

// The one path that the consumer waits for, from the end upward.
Engine::Piece Engine::pick_demand(ThreadKind kind) {
  Segment* segment = root_->root;
  while (true) {
    if (!segment->window.empty()) {
      Ticket& head = *segment->window.front();
      if (head.state == Ticket::State::kDone) return {};  // whoever takes it is on the way
      head.demand = true;
      if (head.state == Ticket::State::kRunning || !may_run(*segment, head, kind)) return {};
      Piece piece{segment, &head, 1, true, nullptr};
      start(piece, kind);
      return piece;
    }
    if (segment->line_busy || segment->line_ended || segment->closed) return {};
    if (!line_ready(*segment)) {
      segment = segment->blocked_on;
      continue;
    }
    if (!line_may_run(*segment, kind)) return {};
    Piece piece{segment, nullptr, 1, true, nullptr};
    start(piece, kind);
    return piece;
  }
}

// The pool's monitor calls again for those that were called for in vain.
int Engine::waiter_work(int most) {
  const MutexLock lock(mutex_);
  for (Segment* segment : for_waiters_) segment->waiter_called = false;
  return call_waiters(most);
}

// Waking a thread costs as much as reading a record: it is woken to read several.
bool Engine::has_room_to_wake_for(const Segment& segment) {
  const size_t capacity = capacity_of(segment, enough_queued() / 2);
  return segment.window.size() < capacity - capacity / 4;
}

int Engine::call_waiters(int most) {
  if (stopped_ || is_alone()) return 0;
  int found = 0;
  for (auto at = for_waiters_.begin(); at != for_waiters_.end();) {
    Segment* const segment = *at;
    if (found >= most) return most;
    at = has_work_for(*segment, ThreadKind::kWaiter) ? std::next(at) : drop(for_waiters_, at);
    if (segment->plan.line_waits && !segment->waiter_called && line_ready(*segment) && has_room_to_wake_for(*segment)) {
      segment->waiter_called = true;
      ++found;
    }
    if (segment->queued.empty() || !has_waiting_step(*segment)) continue;
    // A bounded step admits only so many more calls.
    std::map<const Meter*, int64_t> calls;
    for (const auto& [first, ticket] : segment->queued) {
      if (found >= most) return most;
      const StepPlan& step = segment->plan.steps[ticket->step];
      if (!step.meter->waits.load(std::memory_order_relaxed)) continue;
      const int64_t more = ++calls[step.meter];
      if (step.meter->calls.load(std::memory_order_relaxed) + more <= most_calls(step, true)) ++found;
    }
  }
  return std::min(found, most);
}

size_t Engine::enough_queued() { return 4 * (static_cast<size_t>(Pool::process().workers()) + 1); }

size_t Engine::capacity_of(const Segment& segment) { return capacity_of(segment, enough_queued()); }

// Nobody idles behind a slow head while there is room, which needs a few tickets
// that nobody has begun, and no more than `enough`; and calls that wait need
// tickets to wait with: as many as may be in progress, and as many again.
size_t Engine::capacity_of(const Segment& segment, size_t enough) {
  const bool held_up =
      !segment.plan.steps.empty() && !segment.window.empty() && !segment.head_ready() && segment.queued.size() < enough;
  size_t most = held_up ? std::min(kMostTickets, segment.capacity * 32) : segment.capacity;
  for (const StepPlan& step : segment.plan.steps)
    if (step.meter->waits.load(std::memory_order_relaxed))
      most = std::max(most, static_cast<size_t>(step.parallel > 0 ? 2 * std::min<int64_t>(step.parallel, 1024) : 32));
  return most;
}

// Something that a thread could do, as far as can be said without asking for
// memory. A worker that finds none for itself calls the waiting threads.
bool Engine::has_work() {
  return !stopped_ &&
         (has_work_in(for_workers_, ThreadKind::kWorker) || has_work_in(for_waiters_, ThreadKind::kWaiter));
}

bool Engine::has_work_in(Segments& listed, ThreadKind kind) {
  auto at = listed.begin();
  while (at != listed.end() && !has_work_for(**at, kind)) at = drop(listed, at);
  return at != listed.end();
}

// A ticket may be for either kind of thread: what a stage's calls do is judged anew
// all the time.
bool Engine::has_work_for(const Segment& segment, ThreadKind kind) {
  if (!segment.queued.empty()) return true;
  const bool mine = segment.plan.line_waits == (kind == ThreadKind::kWaiter);
  return mine && line_ready(segment) && segment.window.size() < capacity_of(segment);
}

void Engine::note_work(Segment& segment) {
  if (segment.closed) return;
  const bool has_steps = !segment.plan.steps.empty(), line_waits = segment.plan.line_waits;
  if ((has_steps || !line_waits) && !std::exchange(segment.listed_for_workers, true)) for_workers_.insert(&segment);
  if ((has_steps || line_waits) && !std::exchange(segment.listed_for_waiters, true)) for_waiters_.insert(&segment);
}

// One that is closed may have outlived the one it fed.
void Engine::note_result(const Segment& segment) {
  if (!segment.closed && segment.feeds) note_work(*segment.feeds);
}

// For the tuner: more could have been produced ahead. A window full of tickets
// that no thread has begun does not hold anything up.
void Engine::note_full(Segment& segment) {
  if (line_ready(segment) && segment.window.size() >= capacity_of(segment)) segment.was_full |= segment.queued.empty();
}

Engine::Segments::iterator Engine::drop(Segments& listed, Segments::iterator at) {
  Segment& segment = **at;
  note_full(segment);
  if (&listed == &for_waiters_) segment.waiter_called = false;
  (&listed == &for_waiters_ ? segment.listed_for_waiters : segment.listed_for_workers) = false;
  return listed.erase(at);
}

bool Engine::run_one(ThreadKind kind) {
  Piece piece;
  int waiting = 0;
  bool more = false;
  {
    const MutexLock lock(mutex_);
    piece = pick(kind);
    if (piece || kind != ThreadKind::kWaiter) waiting = call_waiters(1);
    more = piece && has_work();
  }
  if (waiting > 0) Pool::process().want_waiters(1);
  if (!piece) return false;
  if (more) Pool::process().wake();
  run(piece, kind);
  return true;
}

}  // namespace stoker
