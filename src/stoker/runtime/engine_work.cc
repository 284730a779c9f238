// A piece of work, done: lines are pulled, tickets go through their steps,
// windows fill and are taken from.
#include <algorithm>
#include <ranges>

#include "stoker/batch/slab.h"
#include "stoker/core/fork.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/task.h"

namespace stoker {
namespace {

// The rows of one ticket in the slab of its batch.
class SlabRows final : public RowTarget {
 public:
  SlabRows(Slab& slab, int64_t first, int64_t rows) : slab_(slab), first_(first), rows_(rows) {}
  std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) override {
    std::optional<Array> block = slab_.block(leaf, first_ + row, 1, dims, type);
    if (!block) return std::nullopt;
    return block->reshaped(dims);
  }
  std::optional<Array> block_of(size_t leaf, Dims dims, DType type) override {
    if (dims.empty() || dims[0] != rows_) return std::nullopt;
    return slab_.block(leaf, first_, rows_, dims.subspan(1), type);
  }

  // Copies into their rows what the last stage did not write there itself.
  void settle(Run& run) {
    if (!run.failed.empty() || run.size != rows_) return;
    for (size_t leaf = 0; leaf < run.columns.size(); ++leaf) settle(run.columns[leaf], leaf);
  }

 private:
  void settle(Column& column, size_t leaf) {
    const Array first = column.row(0);
    if (first.type() == DType::kBytes) return;
    std::optional<Array> block = slab_.block(leaf, first_, rows_, first.dims(), first.type());
    if (!block) return;
    if (column.dense() && column.block().raw() == block->raw()) {
      column = Column(*std::move(block));
      return;
    }
    if (!column.dense())
      for (const Array& row : column.rows())
        if (row.type() != first.type() || !std::ranges::equal(row.dims(), first.dims())) return;
    const auto bytes = static_cast<size_t>(first.byte_size());
    if (block->frozen()) return;  // user code kept a row of it: the batch is stacked elsewhere
    auto* to = static_cast<std::byte*>(const_cast<void*>(block->raw()));  // the ticket's own rows
    if (column.dense()) {
      std::memcpy(to, column.block().raw(), bytes * static_cast<size_t>(rows_));
    } else {
      for (int64_t i = 0; i < rows_; ++i) {
        const Array& row = column.rows()[static_cast<size_t>(i)];
        std::byte* at = to + bytes * static_cast<size_t>(i);
        if (row.raw() != at) std::memcpy(at, row.raw(), bytes);
      }
    }
    column = Column(*std::move(block));
  }

  Slab& slab_;
  const int64_t first_;
  const int64_t rows_;
};

bool has_serial_step(const Segment& segment, size_t from = 0) {
  return std::ranges::any_of(segment.plan.steps | std::views::drop(from), &StepPlan::serial);
}

// Whether each is from 0 to n - 1: either difference would show its sign. Without
// a way out in the middle the compiler takes several at a time.
bool all_below(std::span<const int64_t> positions, int64_t n) {
  uint64_t signs = 0;
  for (const int64_t position : positions)
    signs |= static_cast<uint64_t>(position) | (static_cast<uint64_t>(n) - 1 - static_cast<uint64_t>(position));
  return static_cast<int64_t>(signs) >= 0;
}

// Names come from lines, and once in a while from a damaged checkpoint.
Run fetch(const ListPlan& list, const Run& names, const MakeContext& context) {
  const int64_t n = list.length();
  if (all_below(names.positions, n)) return list.make(names.positions, names.passes, context);
  RunBuilder lost;
  for (int64_t position : names.positions)
    lost.add_failure(Error::corrupt("position ", position, " of a list of ", n, ": the checkpoint is damaged"),
                     Origin{0, 0, position, nullptr, nullptr}, false);
  return lost.take();
}

}  // namespace

// Whoever calls it holds the engine.
void Engine::run(Piece piece, ThreadKind kind) {
  const RunningScope here(*this);
  tell_all_begun();
  if (piece.ticket)
    run_ticket(*piece.segment, *piece.ticket, kind);
  else
    run_line(piece, kind);
  {
    const MutexLock lock(mutex_);
    --running_;
    if (running_ == 0) piece_done_.notify_all();
  }
  tell_all_begun();
  // What it made ready may be work for another kind of thread than this one.
  if (kind != ThreadKind::kWorker) Pool::process().wake();
}

void Engine::tell_all_begun() {
  if (all_begun_ && on_all_begun_ && !told_all_begun_.exchange(true)) on_all_begun_();
}

void Engine::run_line(Piece piece, ThreadKind kind) {
  Segment& segment = *piece.segment;
  Task task;
  task.always = true;  // a line takes what it needs; whether it runs ahead was asked before
  Pulled pulled;
  {
    TaskScope scope(task);
    AccountScope account(account_);
    std::optional<CallScope> call;
    if (segment.plan.line_waits || segment.plan.line_user)
      call.emplace(Call{segment.line_meter(), now_ns(), segment.issued, nullptr, tell_after_ns()});
    const NoReturnInChild forking;
    pulled = segment.line->pull(piece.most);
  }

  Ticket* mine = nullptr;
  int waiting = 0;
  bool more = false;
  {
    const MutexLock lock(mutex_);
    if (kind == ThreadKind::kWaiter) --waiting_lines_;
    segment.line_busy = false;
    segment.blocked_on = nullptr;
    if (pulled.kind == Pulled::Kind::kRun) {
      if (!segment.closed && !stopped_) mine = issue_all(segment, std::move(pulled.run));
      if (mine && may_run(segment, *mine, kind) && !stopped_ && (piece.demand || admit(segment, *mine))) {
        Piece next{&segment, mine, 1, piece.demand, nullptr};
        start(next, kind);
        --running_;  // one piece, two parts
      } else {
        mine = nullptr;
        // A waiter looks for more itself.
        if (kind != ThreadKind::kWaiter) waiting = call_waiters(1);
      }
    } else if (pulled.kind == Pulled::Kind::kEnd) {
      segment.line_ended = true;
      note_begun(segment);
    } else {
      segment.blocked_on = pulled.on;
      if (pulled.on) pulled.on->feeds = &segment;
    }
    note_work(segment);
    note_result(segment);
    wake_consumer();
    more = has_work();
  }
  if (waiting > 0) Pool::process().want_waiters(1);
  if (more) Pool::process().wake();
  if (mine) run_ticket(segment, *mine, kind);
}

// Cuts what a line gave into tickets; the first, when it has steps to go.
Ticket* Engine::issue_all(Segment& segment, Run run) {
  if (run.size <= rows_for(segment)) return issue(segment, std::move(run));
  Ticket* first = nullptr;
  for (int32_t at = 0; at < run.size;) {
    const auto rows = static_cast<int32_t>(std::min<int64_t>(run.size - at, rows_for(segment)));
    Ticket* issued = issue(segment, run.slice(at, rows));
    if (at == 0) first = issued;
    at += rows;
  }
  return first;
}

Ticket* Engine::issue(Segment& segment, Run run) {
  std::unique_ptr<Ticket> ticket = segment.new_ticket();
  ticket->first = segment.issued;
  ticket->rows = run.size;
  set_slab(segment, *ticket);
  segment.issued += run.size;
  Ticket* issued = ticket.get();
  if (segment.plan.steps.empty()) {
    ticket->state = Ticket::State::kDone;
    ticket->settled = true;
    if (!run.names()) segment.bytes_per_row = static_cast<double>(run.byte_size()) / run.size;
    ticket->run = std::move(run);
    issued = nullptr;
  } else {
    ticket->input = std::move(run);
    segment.queued[ticket->first] = issued;
  }
  segment.window.push_back(std::move(ticket));
  return issued;
}

void Engine::set_slab(Segment& segment, Ticket& ticket) {
  const int64_t batch = segment.plan.rows;
  if (batch <= 0) return;
  const int64_t row = segment.issued - segment.lost;
  if (row >= 0 && row % batch == 0 && ticket.rows % batch == 0) {
    ticket.slab = std::allocate_shared<Slab>(RecycledAllocator<Slab>(), ticket.rows);
    return;
  }
  if (row < 0 || row % batch + ticket.rows > batch) return;
  if (!segment.slab || segment.slab_number != row / batch) {
    segment.slab = std::allocate_shared<Slab>(RecycledAllocator<Slab>(), batch);
    segment.slab_number = row / batch;
  }
  ticket.slab = segment.slab;
  ticket.slab_row = row % batch;
}

void Engine::run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind) {
  Task task;
  task.demand = &ticket.demand;
  task.prepaid = ticket.prepaid;
  const std::vector<StepPlan>& steps = segment.plan.steps;
  if (ticket.step == ticket.first_step && steps[ticket.step].kind != StepPlan::Kind::kFetch) ticket.run = ticket.input;
  std::optional<SlabRows> target;
  if (ticket.slab) target.emplace(*ticket.slab, ticket.slab_row, ticket.rows);
  int64_t ns = 0;
  int64_t begun = now_ns();
  bool handed_on = false;
  while (true) {
    const StepPlan& step = steps[ticket.step];
    const bool last = ticket.step + 1 == steps.size();
    const bool measure_cpu = step.user && step.meter->is_measured();
    task.always = step.serial();  // its results are not refused: it is not called again
    ThreadTime time_begun, time_ended;
    const int32_t rows = step.kind == StepPlan::Kind::kFetch ? ticket.rows : ticket.run.size;
    {
      TaskScope scope(task);
      AccountScope account(account_);
      std::optional<CallScope> call;
      if (step.user) call.emplace(Call{step.meter, begun, ticket.first, &ticket.row, tell_after_ns()});
      ticket.row.store(0, std::memory_order_relaxed);
      if (measure_cpu) time_begun = thread_time();
      const NoReturnInChild forking;
      if (step.kind == StepPlan::Kind::kFetch)
        ticket.run = fetch(*step.list, ticket.input, segment.instance.make);
      else if (ticket.run.size > 0)
        run_step(
            step, ticket.run, segment.instance.make,
            {.target = last && target ? &*target : nullptr, .row = &ticket.row, .like = &ticket.likes[ticket.step]});
      if (measure_cpu)
        time_ended = thread_time();  // while the call is shown: to end that may mean to wait for the monitor
      if (last && target) target->settle(ticket.run);
    }
    const int64_t ended = now_ns();
    const int64_t took = ended - std::exchange(begun, ended);
    ns += took;
    step.meter->add(rows, took, ticket.run.byte_size());
    if (measure_cpu) {
      step.meter->add_measured(time_begun, time_ended, took);
      step.meter->judge();
    }
    if (ticket.counts.exchange(false)) --step.meter->calls;
    // One of which a filter left nothing goes through serial steps in its turn.
    const bool is_over = ticket.run.size == 0 && !has_serial_step(segment, ticket.step + 1);
    if (last || task.no_room || stopped_ || is_over) break;
    const MutexLock lock(mutex_);
    ++ticket.step;
    if (step.serial()) keep_result(ticket);
    pass_turns(segment, ticket, ticket.step);
    refresh_likes(segment, ticket);
    if (!may_run(segment, ticket, kind)) {  // for another kind of thread, or a free call
      handed_on = true;
      break;
    }
    ++steps[ticket.step].meter->calls;
    ticket.counts = true;
  }
  Budget::process().give_back(task.prepaid);
  end_part(segment, ticket, task, ns, handed_on);
}

// From here on the ticket begins again with what a serial call returned.
void Engine::keep_result(Ticket& ticket) {
  ticket.input = ticket.run;
  ticket.first_step = ticket.step;
}

// The ticket has gone through the steps before `end`. Calls in order say at once
// what a function gives: none of them is made again.
void Engine::pass_turns(Segment& segment, const Ticket& ticket, size_t end) {
  for (size_t i = 0; i < end; ++i) {
    segment.turns[i] = std::max(segment.turns[i], ticket.first + ticket.rows);
    if (segment.plan.steps[i].serial() && !segment.likes[i].nest) segment.likes[i] = ticket.likes[i];
  }
}

// What is known by now of the results of the steps to come.
void Engine::refresh_likes(const Segment& segment, Ticket& ticket) {
  ticket.likes.resize(segment.likes.size());
  for (size_t i = ticket.step; i < ticket.likes.size(); ++i) ticket.likes[i] = segment.likes[i];
}

void Engine::end_part(Segment& segment, Ticket& ticket, Task& task, int64_t ns, bool handed_on) {
  Runs dropped;  // freed outside the lock
  bool waiter = false;
  {
    const MutexLock lock(mutex_);
    --segment.running;
    ticket.prepaid = 0;
    if (segment.closed || stopped_) {
      dropped.push_back(std::exchange(ticket.run, Run()));
      dropped.push_back(std::exchange(ticket.input, Run()));
      forget(segment, ticket);
      return;
    }
    if (task.no_room) {
      dropped.push_back(std::exchange(ticket.run, Run()));
      ticket.bytes = std::max(ticket.bytes, task.taken);
      ticket.begin_again();
      segment.queued[ticket.first] = &ticket;
      note_work(segment);
      wake_consumer();
      return;
    }
    segment.bytes_per_row = std::max(segment.bytes_per_row * 0.99, static_cast<double>(task.taken) / ticket.rows);
    reserve(task.taken / ticket.rows);
    if (handed_on) {
      ticket.state = Ticket::State::kQueued;
      segment.queued[ticket.first] = &ticket;
      waiter = segment.plan.steps[ticket.step].meter->waits.load();
    } else {
      ticket.state = Ticket::State::kDone;
      pass_turns(segment, ticket, segment.plan.steps.size());
      learn(segment, ns, ticket.rows);
      if (gave_what_is_known(segment, ticket))
        settle(segment, ticket, dropped);
      else if (&ticket == segment.window.front().get())
        settle_head(segment, dropped);
    }
    note_work(segment);
    note_result(segment);
    wake_consumer();
  }
  if (waiter && !is_alone()) Pool::process().want_waiters(1);
}

bool Engine::gave_what_is_known(const Segment& segment, const Ticket& ticket) {
  for (size_t i = 0; i < ticket.likes.size(); ++i)
    if (ticket.likes[i].nest && !(ticket.likes[i] == segment.likes[i])) return false;
  return true;
}

void Engine::settle(const Segment& segment, Ticket& ticket, Runs& dropped) {
  ticket.settled = true;
  const bool may_be_reclaimed = segment.plan.names && !has_serial_step(segment);
  if (!may_be_reclaimed) dropped.push_back(std::exchange(ticket.input, Run()));
}

// The first to be given out says what functions give. What was made before that
// was known, and is of another kind, is made again: which element fails must
// not depend on who was first. Until then the input is kept.
void Engine::settle_head(Segment& segment, Runs& dropped) {
  if (!segment.head_ready() || segment.window.front()->settled) return;
  Ticket& head = *segment.window.front();
  for (size_t i = 0; i < head.likes.size(); ++i)
    if (!segment.likes[i].nest) segment.likes[i] = head.likes[i];
  if (gave_what_is_known(segment, head)) return settle(segment, head, dropped);
  dropped.push_back(std::exchange(head.run, Run()));
  head.slab.reset();
  head.begin_again();
  segment.queued[head.first] = &head;
}

void Engine::forget(Segment& segment, Ticket& ticket) {
  std::erase_if(segment.window, [&](const auto& one) { return one.get() == &ticket; });
}

void Engine::learn(Segment& segment, int64_t ns, int32_t rows) {
  const double each = static_cast<double>(std::max<int64_t>(ns, 1)) / rows;
  segment.ns_per_row = segment.ns_per_row == 0 ? each : segment.ns_per_row * 0.8 + each * 0.2;
  const auto fit = static_cast<int64_t>(kRunNs / segment.ns_per_row);
  segment.run_rows = std::clamp<int64_t>(std::min(fit, segment.run_rows * 8), 1, kMostRunRows);
}

// Only for what it waits for: workers take the pieces on its path themselves.
// Without workers a piece may still end on another thread, one that was a
// worker a moment ago, and nobody but the consumer takes the next.
void Engine::wake_consumer() {
  if (!consumer_waiting_ || !root_) return;
  const Segment& root = *root_->root;
  if (!root.head_ready() && !root.at_end() && !is_alone()) return;
  result_ready_.store(true, std::memory_order_release);
  if (consumer_asleep_) consumer_wakes_.notify_all();
}

Pulled Engine::take(Segment& segment, int64_t most) {
  TakenFrom from;  // freed outside the lock
  const MutexLock lock(mutex_);
  if (Run run = take_head(segment, most, from); run.size > 0) return Pulled::of(std::move(run));
  if (segment.at_end()) return Pulled::end();
  segment.note_empty();
  return Pulled::blocked(&segment);
}

// No rows where the head is not done.
Run Engine::take_head(Segment& segment, int64_t most, TakenFrom& from) {
  while (segment.head_ready()) {
    Ticket& head = *segment.window.front();
    if (head.taken == 0 && segment.plan.filters)
      segment.marks.push_back({segment.popped - segment.to_skip, head.first});
    const auto skipped = std::min<int64_t>(segment.to_skip, head.run.size - head.taken);
    head.taken += skipped;
    segment.to_skip -= skipped;
    const auto n = static_cast<int32_t>(std::min<int64_t>(most, head.run.size - head.taken));
    Run part;
    const bool whole = n == head.run.size;
    if (n > 0) part = whole ? std::move(head.run) : head.run.slice(static_cast<int32_t>(head.taken), n);
    head.taken += n;
    segment.popped += n;
    if (whole || head.taken >= head.run.size) {
      std::unique_ptr<Ticket> emptied = std::move(segment.window.front());
      segment.window.pop_front();
      from.runs.push_back(std::exchange(emptied->run, Run()));
      from.runs.push_back(std::exchange(emptied->input, Run()));
      if (emptied->slab) from.slabs.push_back(std::move(emptied->slab));
      segment.keep_spare(std::move(emptied));
      settle_head(segment, from.runs);
      note_work(segment);
    }
    if (n > 0) return part;
  }
  return {};
}

int64_t Engine::reclaim(int64_t bytes) {
  Runs dropped;
  int64_t freed = 0;
  if (!mutex_.try_lock()) return 0;
  // Furthest from delivery first: the last segment's last ticket.
  for (auto at = order_.rbegin(); at != order_.rend() && freed < bytes; ++at) {
    Segment& segment = **at;
    if (!segment.plan.names || segment.plan.steps.empty() || has_serial_step(segment)) continue;
    for (size_t i = segment.window.size(); i-- > 1 && freed < bytes;) {
      Ticket& ticket = *segment.window[i];
      if (ticket.state != Ticket::State::kDone || ticket.taken > 0) continue;
      freed += ticket.run.byte_size();
      dropped.push_back(std::exchange(ticket.run, Run()));
      ticket.slab.reset();
      ticket.begin_again();
      segment.queued[ticket.first] = &ticket;
      note_work(segment);
    }
    if (segment.slab) segment.slab.reset(), segment.slab_number = -1;
  }
  mutex_.unlock();
  return freed;
}

}  // namespace stoker
