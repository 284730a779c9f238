// Runs pieces of work: pulls lines, runs tickets, and takes results from windows.
#include <algorithm>

#include "stoker/core/fork.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/task.h"
#include "stoker/runtime/ticket_run.h"

namespace stoker {

// ---- for the threads of the pool

bool Engine::run_one(ThreadKind kind) {
  Piece piece;
  int waiting = 0;
  bool more = false;
  {
    const EngineLock lock(mutex_);
    if (!flags_.stopped) piece = schedule_.pick(kind, flags_.consumer_waiting ? root_->root : nullptr);
    if (piece || kind != ThreadKind::kWaiter) waiting = call_waiters();
    more = piece && schedule_.has_work();
  }
  if (waiting > 0) Pool::process().request_waiters(1);
  if (!piece) return false;
  if (more) Pool::process().wake();
  run(std::move(piece), kind);
  return true;
}

int Engine::waiter_work(int most) {
  const EngineLock lock(mutex_);
  return schedule_.call_waiters_again(most);
}

void Engine::run(Piece piece, ThreadKind kind) {
  const RunningScope here(*this);
  report_all_begun();
  if (piece.ticket)
    run_ticket(*piece.segment, *piece.ticket, kind);
  else
    run_line(piece, kind);
  {
    const EngineLock lock(mutex_);
    schedule_.end_piece();
    if (schedule_.running() == 0) piece_done_.notify_all();
  }
  report_all_begun();
  // The piece may have created work for workers.
  if (kind != ThreadKind::kWorker) Pool::process().wake();
}

void Engine::report_all_begun() {
  if (flags_.all_started && on_all_started_ && !all_started_reported_.exchange(true)) on_all_started_();
}

// Lists the work that a new result makes possible, and wakes the consumer if it waits for the result.
void Engine::note_progress(Segment& segment) {
  schedule_.note_work(segment);
  schedule_.note_result(segment);
  wake_consumer();
}

// ---- lines

void Engine::run_line(const Piece& piece, ThreadKind kind) {
  Pulled pulled = pull(piece);
  Ticket* issued = nullptr;
  int waiting = 0;
  bool has_more = false;
  {
    const EngineLock lock(mutex_);
    issued = accept(piece, kind, pulled);
    // A waiting thread looks for more work itself.
    if (pulled.kind == Pulled::Kind::kRun && !issued && kind != ThreadKind::kWaiter) waiting = call_waiters();
    note_progress(*piece.segment);
    has_more = schedule_.has_work();
  }
  if (waiting > 0) Pool::process().request_waiters(1);
  if (has_more) Pool::process().wake();
  if (issued) run_ticket(*piece.segment, *issued, kind);
}

Pulled Engine::pull(const Piece& piece) {
  Segment& segment = *piece.segment;
  Task task;
  task.always = true;  // a line takes the memory that it needs; the schedule has already limited prefetching
  const TaskScope scope(task);
  const AccountScope account(account_);
  std::optional<CallScope> call;
  if (segment.plan.line_waits || segment.plan.line_user)
    call.emplace(Call{segment.line_meter(), now_ns(), piece.first, nullptr, report_after_ns()});
  const NoReturnInChild forking;
  if (segment.line_failed) return Pulled::end();
  try {
    Pulled pulled = segment.line->pull(piece.most);
    if (pulled.kind == Pulled::Kind::kRun && segment.plan.steps.empty()) copy_early(segment, pulled.run);
    if (pulled.kind == Pulled::Kind::kEnd && segment.skips_rows)
      if (std::optional<Run> error = segment.line->ended_early()) return Pulled::end_error(*std::move(error));
    return pulled;
  } catch (...) {  // the line may not be able to continue: its error is its last row
    segment.line_failed = true;
    Error error = error_of_exception();
    error.at().stage = segment.line_meter()->path;
    return Pulled::of(Run::failure(std::move(error), Origin{.position = piece.first}));
  }
}

// Adds the rows of a line to its window. Returns the first ticket if the calling thread continues with it.
Ticket* Engine::accept(const Piece& piece, ThreadKind kind, Pulled& pulled) {
  Segment& segment = *piece.segment;
  schedule_.end_pull(segment, kind);
  if (pulled.kind == Pulled::Kind::kEnd) {
    schedule_.end_line(segment);
  } else if (pulled.kind == Pulled::Kind::kBlocked) {
    segment.blocked_on = pulled.on;
    if (pulled.on) pulled.on->feeds = &segment;
  } else if (!segment.closed && !flags_.stopped) {
    Ticket* issued = segment.issue(std::move(pulled));
    if (issued && !flags_.stopped && schedule_.continue_with(piece, *issued, kind)) return issued;
  }
  return nullptr;
}

// ---- tickets

void Engine::run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind) {
  TicketRun run(segment, ticket, account_, report_after_ns());
  bool requeued = false;
  while (!requeued && run.run_next_step() && !flags_.stopped) {
    const EngineLock lock(mutex_);
    requeued = !schedule_.continue_step(segment, ticket, kind);
  }
  Budget::process().give_back(run.task().prepaid);
  Runs dropped;  // freed outside the lock
  bool needs_waiter = false;
  {
    const EngineLock lock(mutex_);
    needs_waiter = end_ticket(segment, ticket, run, requeued, dropped);
  }
  if (needs_waiter) Pool::process().request_waiters(1);
}

// Returns whether the next step needs a waiting thread.
bool Engine::end_ticket(Segment& segment, Ticket& ticket, const TicketRun& run, bool requeued, Runs& dropped) {
  const Task& task = run.task();
  --segment.running;
  ticket.prepaid = 0;
  if (segment.closed || flags_.stopped) {
    segment.window.drop(ticket, dropped);
    return false;
  }
  if (task.was_refused) {
    ticket.bytes = std::max(ticket.bytes, task.taken);
    segment.window.run_again(ticket, dropped);
    schedule_.note_work(segment);
    wake_consumer();
    return false;
  }
  segment.pace.note_bytes(task.taken, ticket.rows);
  reserve(task.taken / ticket.rows);
  bool needs_waiter = false;
  if (requeued) {
    segment.window.requeue(ticket);
    needs_waiter = segment.plan.steps[ticket.step].meter->waits.load() && !schedule_.is_alone();
  } else {
    segment.pace.note_time(run.ns(), ticket.rows);
    segment.window.finish(ticket, dropped);
  }
  note_progress(segment);
  return needs_waiter;
}

// ---- results

Pulled Engine::take(Segment& segment, int64_t most) {
  Window::Leftovers left;  // freed outside the lock
  const EngineLock lock(mutex_);
  if (Run run = take_head(segment, most, left); run.size > 0) return Pulled::of(std::move(run));
  if (segment.at_end()) return Pulled::end();
  segment.note_empty();
  return Pulled::blocked(&segment);
}

Run Engine::take_head(Segment& segment, int64_t most, Window::Leftovers& left) {
  const size_t size_before = segment.window.size();
  Run run = segment.window.take(most, left);
  if (segment.window.size() < size_before) schedule_.note_work(segment);
  return run;
}

}  // namespace stoker
