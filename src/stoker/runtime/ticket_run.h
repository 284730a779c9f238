#pragma once

#include <memory>
#include <optional>

#include "stoker/runtime/segment.h"
#include "stoker/runtime/slab.h"
#include "stoker/runtime/task.h"

namespace stoker {

// Runs a ticket through its steps on the calling thread, without the engine's lock, and measures them.
class TicketRun {
 public:
  // The ticket runs, and its next call is counted in the meter of the step. A call that takes longer than
  // `report_after_ns` is reported.
  TicketRun(Segment& segment, Ticket& ticket, const std::shared_ptr<Account>& account, int64_t report_after_ns);

  // Runs the step at ticket.step. Returns whether another step is to be run.
  bool run_next_step();

  const Task& task() const { return task_; }
  int64_t ns() const { return ns_; }  // that the steps took

 private:
  void run_rows(const StepPlan& step);

  Segment& segment_;
  Ticket& ticket_;
  const std::shared_ptr<Account>& account_;
  const int64_t report_after_ns_;
  Task task_;
  std::optional<SlabRows> target_;  // the memory for the results of the last step
  int64_t ns_ = 0;
  int64_t started_ns_;  // the step
};

// Copies large results that the consumer is about to receive for their receiver, where that is necessary.
void copy_early(const Segment& segment, Run& run);

}  // namespace stoker
