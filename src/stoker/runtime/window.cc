#include "stoker/runtime/window.h"

#include <algorithm>
#include <ranges>

#include "stoker/graph/element_json.h"
#include "stoker/runtime/slab.h"

namespace stoker {
namespace {

constexpr size_t kMostSpare = 64;

}  // namespace

bool has_serial_step(const SegmentPlan& plan, size_t from) {
  return std::ranges::any_of(plan.steps | std::views::drop(from), &StepPlan::serial);
}

// ---- tickets

void Ticket::reset_state() {
  state = State::kQueued;
  settled = false;
  step = first_step;
}

void Ticket::begin_again(Runs& dropped) {
  dropped.push_back(std::exchange(run, Run()));
  reset_state();
}

void Ticket::clear() {
  first_step = 0;
  reset_state();
  result_types.clear();
  run = Run();
  input = Run();
  row = 0;
  demand = false;
  prepaid = bytes = taken = 0;
  slab.reset();
  slab_row = 0;
}

// ---- from the line to the window

Window::Window(const SegmentPlan& plan) : plan_(plan) {
  if (plan.filters) marks_.push_back({0, 0, 0});
  result_types_.resize(plan.steps.size());
  turns_.resize(plan.steps.size(), 0);
}

std::unique_ptr<Ticket> Window::new_ticket() {
  if (spare_.empty()) return std::make_unique<Ticket>();
  std::unique_ptr<Ticket> ticket = std::move(spare_.back());
  spare_.pop_back();
  ticket->clear();
  return ticket;
}

Ticket* Window::issue(Run run) {
  std::unique_ptr<Ticket> ticket = new_ticket();
  ticket->first = issued_;
  ticket->rows = run.size;
  set_slab(*ticket);
  issued_ += run.size;
  Ticket* issued = ticket.get();
  if (plan_.steps.empty()) {
    ticket->state = Ticket::State::kDone;
    ticket->settled = true;
    ticket->run = std::move(run);
    issued = nullptr;
  } else {
    ticket->input = std::move(run);
    queued_[ticket->first] = issued;
  }
  tickets_.push_back(std::move(ticket));
  return issued;
}

Ticket* Window::issue_end(Run error) {
  end_ = issued_;
  return issue(std::move(error));
}

int64_t Window::rows_in_batch() const {
  return plan_.rows > 0 ? std::max<int64_t>(0, (issued_ - lost_) % plan_.rows) : 0;
}

void Window::set_slab(Ticket& ticket) {
  const int64_t batch = plan_.rows;
  if (batch <= 0) return;
  const int64_t row = issued_ - lost_;
  if (row >= 0 && row % batch == 0 && ticket.rows % batch == 0) {
    ticket.slab = std::allocate_shared<Slab>(RecycledAllocator<Slab>(), ticket.rows);
    return;
  }
  if (row < 0 || row % batch + ticket.rows > batch) return;
  if (!slab_ || slab_number_ != row / batch) {
    slab_ = std::allocate_shared<Slab>(RecycledAllocator<Slab>(), batch);
    slab_number_ = row / batch;
  }
  ticket.slab = slab_;
  ticket.slab_row = row % batch;
}

void Window::drop_slab() {
  slab_.reset();
  slab_number_ = -1;
}

// In the slab of the rows that were already issued, the rows that follow would overwrite each other.
void Window::note_lost(int64_t rows) {
  lost_ += rows;
  drop_slab();
}

// ---- through the steps

void Window::start(Ticket& ticket) {
  ticket.state = Ticket::State::kRunning;
  refresh_result_types(ticket);
  queued_.erase(ticket.first);
}

void Window::advance(Ticket& ticket) {
  const bool was_serial = plan_.steps[ticket.step].serial();
  ++ticket.step;
  if (was_serial) {
    // If the ticket is run again, it starts here, because the call must not be repeated.
    ticket.input = ticket.run;
    ticket.first_step = ticket.step;
  }
  pass_turns(ticket, ticket.step);
  refresh_result_types(ticket);
}

void Window::requeue(Ticket& ticket) {
  ticket.state = Ticket::State::kQueued;
  queued_[ticket.first] = &ticket;
}

void Window::finish(Ticket& ticket, Runs& dropped) {
  ticket.state = Ticket::State::kDone;
  pass_turns(ticket, plan_.steps.size());
  if (has_known_types(ticket))
    settle(ticket, dropped);
  else if (&ticket == tickets_.front().get())
    settle_head(dropped);
}

void Window::run_again(Ticket& ticket, Runs& dropped) {
  ticket.begin_again(dropped);
  queued_[ticket.first] = &ticket;
}

void Window::drop(Ticket& ticket, Runs& dropped) {
  dropped.push_back(std::exchange(ticket.run, Run()));
  dropped.push_back(std::exchange(ticket.input, Run()));
  std::erase_if(tickets_, [&](const auto& one) { return one.get() == &ticket; });
}

void Window::drop_idle(std::vector<std::unique_ptr<Ticket>>& dropped) {
  for (auto& ticket : tickets_)
    if (ticket->state != Ticket::State::kRunning) dropped.push_back(std::move(ticket));
  std::erase_if(tickets_, [](const auto& ticket) { return !ticket; });
}

// Records that the ticket has passed the steps before `end`. A serial step determines the type of its results with its
// first call, because none of its calls is repeated.
void Window::pass_turns(const Ticket& ticket, size_t end) {
  for (size_t i = 0; i < end; ++i) {
    turns_[i] = std::max(turns_[i], ticket.first + ticket.rows);
    if (plan_.steps[i].serial() && !result_types_[i].nest) result_types_[i] = ticket.result_types[i];
  }
}

// Copies the result types that are known so far for the remaining steps.
void Window::refresh_result_types(Ticket& ticket) const {
  ticket.result_types.resize(result_types_.size());
  for (size_t i = ticket.step; i < ticket.result_types.size(); ++i) ticket.result_types[i] = result_types_[i];
}

// ---- from the window to the reader

bool Window::has_known_types(const Ticket& ticket) const {
  for (size_t i = 0; i < ticket.result_types.size(); ++i)
    if (ticket.result_types[i].nest && !(ticket.result_types[i] == result_types_[i])) return false;
  return true;
}

bool Window::can_recompute() const { return plan_.yields_positions && !has_serial_step(plan_); }

void Window::settle(Ticket& ticket, Runs& dropped) const {
  ticket.settled = true;
  if (!can_recompute()) dropped.push_back(std::exchange(ticket.input, Run()));
}

// The first delivered result determines the types of all results. Results of other types that were computed before it
// are computed again, because the element that fails must not depend on which thread was first. Tickets keep their
// input until then.
void Window::settle_head(Runs& dropped) {
  if (!head_ready() || head().settled) return;
  Ticket& first = head();
  for (size_t i = 0; i < first.result_types.size(); ++i)
    if (!result_types_[i].nest) result_types_[i] = first.result_types[i];
  if (has_known_types(first)) return settle(first, dropped);
  first.slab.reset();
  run_again(first, dropped);
}

// The number of the next rows of the ticket that were delivered before a restore.
int64_t Window::rows_to_skip(const Ticket& ticket) const {
  const auto rows = std::min<int64_t>(to_skip_, ticket.run.size - ticket.taken);
  if (rows == 0) return 0;
  for (const Failure& failure : ticket.run.failed)
    if (is_unexpected(failure.error, may_end_) && failure.row >= ticket.taken && failure.row < ticket.taken + rows)
      return failure.row - ticket.taken;
  return rows;
}

// Makes the next row, which is an unexpected error among the rows to skip, an extra error.
void Window::return_error(Ticket& ticket) {
  const auto row = static_cast<int32_t>(ticket.taken);
  Failure& failure = *std::ranges::find(ticket.run.failed, row, &Failure::row);
  if (!failure.error.is_extra()) --to_skip_;
  failure.set_extra();
  input_failed_ = true;
}

Run Window::take(int64_t most, Leftovers& left) {
  while (head_ready()) {
    Ticket& first = head();
    if (first.taken == 0 && plan_.filters) marks_.push_back({popped_, first.first, to_skip_});
    const int64_t skipped = rows_to_skip(first);
    first.taken += skipped;
    to_skip_ -= skipped;
    if (drops_end(first)) first.taken = first.run.size;
    if (to_skip_ > 0 && first.taken < first.run.size) {
      return_error(first);
      most = 1;
    }
    const auto n = static_cast<int32_t>(std::min<int64_t>(most, first.run.size - first.taken));
    Run part;
    const bool whole = n == first.run.size;
    if (n > 0) part = whole ? std::move(first.run) : first.run.slice(static_cast<int32_t>(first.taken), n);
    if (plan_.filters) errors_.note(part, popped_);
    first.taken += n;
    popped_ += n;
    if (whole || first.taken >= first.run.size) pop_head(left);
    if (n > 0) return part;
  }
  return {};
}

void Window::pop_head(Leftovers& left) {
  std::unique_ptr<Ticket> emptied = std::move(tickets_.front());
  tickets_.pop_front();
  left.runs.push_back(std::exchange(emptied->run, Run()));
  left.runs.push_back(std::exchange(emptied->input, Run()));
  if (emptied->slab) left.slabs.push_back(std::move(emptied->slab));
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(emptied));
  settle_head(left.runs);
}

int64_t Window::reclaim(int64_t bytes, Runs& dropped) {
  if (plan_.steps.empty() || !can_recompute()) return 0;
  int64_t freed = 0;
  for (size_t i = tickets_.size(); i-- > 1 && freed < bytes;) {
    Ticket& ticket = *tickets_[i];
    if (ticket.state != Ticket::State::kDone || ticket.taken > 0) continue;
    freed += ticket.run.byte_size();
    ticket.slab.reset();
    run_again(ticket, dropped);
  }
  if (slab_) drop_slab();
  return freed;
}

// ---- checkpoints

Window::Mark Window::mark_at(int64_t cursor) const {
  if (!plan_.filters) return {cursor, cursor, 0};
  auto mark = std::ranges::find_if(marks_.rbegin(), marks_.rend(), [&](const Mark& m) { return m.out <= cursor; });
  STOKER_CHECK(mark != marks_.rend());
  return *mark;
}

int64_t Window::elements_to_skip(const Mark& mark, int64_t cursor) const {
  return mark.skip + cursor - mark.out - errors_.extras_in(mark.out, cursor);
}

Window::Mark Window::prune(int64_t cursor) {
  if (!plan_.filters) return {cursor, cursor, 0};
  while (marks_.size() > 1 && marks_[1].out <= cursor) marks_.pop_front();
  errors_.prune(marks_.front().out);
  return marks_.front();
}

Json Window::types_to_json() const {
  Json types = Json::list();
  for (size_t i = 0; i < result_types_.size(); ++i)
    if (plan_.steps[i].user) types.push(result_types_[i].nest ? type_to_json(result_types_[i]) : Json());
  return types;
}

Result<void> Window::set_types(const Json& types) {
  const Json::List* list = types.as<Json::List>();
  if (!list) return {};
  size_t known = 0;
  for (size_t i = 0; i < result_types_.size() && known < list->size(); ++i) {
    if (!plan_.steps[i].user) continue;
    const Json& type = (*list)[known++];
    if (type.is_null()) continue;
    STOKER_TRY(result_types_[i], type_from_json(type));
  }
  return {};
}

void Window::skip_first(int64_t rows, bool may_end) {
  to_skip_ = rows;
  may_end_ = may_end;
  marks_ = {{0, 0, rows}};
}

}  // namespace stoker
