#pragma once

#include <atomic>
#include <memory>

#include "stoker/core/buffer.h"

namespace stoker {

// The piece of work that the calling thread runs, for the account and the watchdog.
struct Task {
  const std::atomic<bool>* demand = nullptr;  // on a consumer's path: memory is taken without a request
  bool always = false;                        // the same, for lines on the path
  int64_t prepaid = 0;                        // bytes requested when the piece was admitted
  int64_t taken = 0;                          // bytes it took
  bool was_refused = false;                   // memory was refused: drop the result and try again

  bool on_demand() const { return always || (demand && demand->load(std::memory_order_relaxed)); }

  // The task of the calling thread; null outside the engine.
  static Task* current();
};

// Sets the task of the calling thread during its lifetime. Scopes nest: a user function may read another loader.
class TaskScope {
 public:
  explicit TaskScope(Task& task);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  Task* previous_;
};

class Engine;

// Marks the calling thread as working for an engine during its lifetime. Scopes nest: a user function may read another
// loader.
class RunningScope {
 public:
  explicit RunningScope(const Engine& engine);
  ~RunningScope();
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

  static bool covers(const Engine& engine);
  // The flag that the engine of this thread was stopped. Valid while the thread works for it; null if it works for
  // none.
  static const std::atomic<bool>* stopped();
  // The `owner` of the loader that this thread works for; null if it works for none.
  static std::shared_ptr<void> owner();

 private:
  const Engine& engine_;
  const RunningScope* const outer_;
};

// The account of one iterator. Its bytes are counted in the budget of the process.
class EngineAccount final : public Account {
 public:
  bool take(int64_t bytes, bool must) override;
  void give_back(int64_t bytes) override;
  int64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> held_{0};
};

}  // namespace stoker
