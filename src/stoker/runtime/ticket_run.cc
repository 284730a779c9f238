#include "stoker/runtime/ticket_run.h"

#include <functional>

#include "stoker/core/fork.h"
#include "stoker/graph/function.h"
#include "stoker/runtime/call.h"
#include "stoker/runtime/delivery.h"

namespace stoker {
namespace {

// Returns whether every position is at least 0 and less than n. Otherwise, `position` or `n - 1 - position` is negative
// and sets the sign bit. The loop has no early exit, so that the compiler can vectorize it.
bool all_below(std::span<const int64_t> positions, int64_t n) {
  uint64_t signs = 0;
  for (const int64_t position : positions)
    signs |= static_cast<uint64_t>(position) | (static_cast<uint64_t>(n) - 1 - static_cast<uint64_t>(position));
  return static_cast<int64_t>(signs) >= 0;
}

// Returns a failure for each position.
Run failures_at(const Numbers& positions, const std::function<Error(int64_t position)>& error_at) {
  RunBuilder failures;
  for (const int64_t position : positions)
    failures.add_failure(error_at(position), Origin{.position = position}, false);
  return failures.take();
}

// Loads the elements at the positions of a run. A position can be out of range after restoring a damaged checkpoint. A
// line that cannot determine positions returns failures instead, which are not fetched.
Run fetch(const ListPlan& list, const Run& names, const MakeContext& context) {
  const int64_t n = list.length();
  if (!all_below(names.positions, n))
    return failures_at(names.positions, [n](int64_t position) {
      return Error::corrupt("the checkpoint is damaged: expected positions in a list of ", n,
                            " elements, got position ", position);
    });
  try {
    return list.make(names.positions, names.passes, context);
  } catch (...) {  // a selection threw
    const Error error = error_of_exception();
    return failures_at(names.positions, [&](int64_t) { return Error(error); });
  }
}

// Results of at least this size are copied for their receiver before delivery: copying a cached batch of 38 MB takes
// 3 ms, which would delay the training thread. Delivery copies smaller results, and those for which the copy failed
// here.
constexpr int64_t kCopyEarlyBytes = 64 << 10;

}  // namespace

void copy_early(const Segment& segment, Run& run) {
  if (segment.rank > 0 || run.names() || run.byte_size() < kCopyEarlyBytes) return;
  (void)make_receivers_own(run);
}

TicketRun::TicketRun(Segment& segment, Ticket& ticket, const std::shared_ptr<Account>& account, int64_t report_after_ns)
    : segment_(segment), ticket_(ticket), account_(account), report_after_ns_(report_after_ns), started_ns_(now_ns()) {
  task_.demand = &ticket.demand;
  task_.prepaid = ticket.prepaid;
  const bool is_fetched = segment.plan.steps[ticket.step].kind == StepPlan::Kind::kFetch;
  if (ticket.step == ticket.first_step && !is_fetched) ticket.run = ticket.input;
  if (ticket.slab) target_.emplace(*ticket.slab, ticket.slab_row, ticket.rows);
}

bool TicketRun::run_next_step() {
  const StepPlan& step = segment_.plan.steps[ticket_.step];
  const bool is_last = ticket_.step + 1 == segment_.plan.steps.size();
  const bool measure_cpu = step.user && step.meter->is_measured();
  task_.always = step.serial();  // its results cannot be dropped, because it must not be called again
  ThreadTime time_started, time_ended;
  const int32_t rows = step.kind == StepPlan::Kind::kFetch ? ticket_.rows : ticket_.run.size;
  {
    TaskScope scope(task_);
    AccountScope account(account_);
    std::optional<CallScope> call;
    if (step.user) call.emplace(Call{step.meter, started_ns_, ticket_.first, &ticket_.row, report_after_ns_});
    ticket_.row.store(0, std::memory_order_relaxed);
    if (measure_cpu) time_started = thread_time();
    const NoReturnInChild forking;
    run_rows(step);
    // Measured inside the call scope: ending the scope may wait for the monitor.
    if (measure_cpu) time_ended = thread_time();
    if (is_last && target_) target_->copy_into_slab(ticket_.run);
    if (is_last) copy_early(segment_, ticket_.run);
  }
  const int64_t ended = now_ns();
  const int64_t took = ended - std::exchange(started_ns_, ended);
  ns_ += took;
  step.meter->add(rows, took, ticket_.run.byte_size());
  if (measure_cpu) {
    step.meter->add_measured(time_started, time_ended, took);
    step.meter->judge();
  }
  if (ticket_.counts.exchange(false)) --step.meter->calls;
  // If a filter dropped every row, the ticket still has to take its turn at the remaining serial steps.
  const bool is_over = ticket_.run.size == 0 && !has_serial_step(segment_.plan, ticket_.step + 1);
  return !is_last && !task_.was_refused && !is_over;
}

void TicketRun::run_rows(const StepPlan& step) {
  const MakeContext& context = segment_.instance.make;
  if (step.kind == StepPlan::Kind::kFetch) {
    ticket_.run = ticket_.input.names() ? fetch(*step.list, ticket_.input, context) : ticket_.input;
    return;
  }
  if (ticket_.run.size == 0) return;
  const bool is_last = ticket_.step + 1 == segment_.plan.steps.size();
  run_step(step, ticket_.run, context,
           {.target = is_last && target_ ? &*target_ : nullptr,
            .row = &ticket_.row,
            .like = &ticket_.result_types[ticket_.step]});
}

}  // namespace stoker
