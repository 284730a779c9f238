#include "stoker/runtime/task.h"

#include <algorithm>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/pool.h"

namespace stoker {

namespace {
thread_local Task* current_task = nullptr;
thread_local const RunningScope* innermost = nullptr;
}  // namespace

Task* Task::current() { return current_task; }

TaskScope::TaskScope(Task& task) : previous_(std::exchange(current_task, &task)) {}
TaskScope::~TaskScope() { current_task = previous_; }

RunningScope::RunningScope(const Engine& engine) : engine_(engine), outer_(std::exchange(innermost, this)) {}
RunningScope::~RunningScope() { innermost = outer_; }

const std::atomic<bool>* RunningScope::stopped() { return innermost ? &innermost->engine_.stopped() : nullptr; }

std::shared_ptr<void> RunningScope::owner() { return innermost ? innermost->engine_.options().owner : nullptr; }

bool RunningScope::covers(const Engine& engine) {
  for (const RunningScope* scope = innermost; scope; scope = scope->outer_)
    if (&scope->engine_ == &engine) return true;
  return false;
}

bool EngineAccount::take(int64_t bytes, bool must) {
  Budget& budget = Budget::process();
  Task* task = Task::current();
  const bool ahead = task && !must && !task->on_demand();
  const int64_t paid = task ? std::min(task->prepaid, bytes) : 0;
  if (ahead && bytes > paid) {
    if (!budget.try_take(bytes - paid)) {
      task->was_refused = true;
      task->taken += bytes;
      return false;
    }
  } else if (bytes > paid) {
    if (!budget.has_space_for(bytes - paid)) Pool::process().reclaim(bytes - paid);
    budget.take(bytes - paid);
  }
  if (task) {
    task->prepaid -= paid;
    task->taken += bytes;
  }
  held_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void EngineAccount::give_back(int64_t bytes) {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  Budget::process().give_back(bytes);
}

}  // namespace stoker
