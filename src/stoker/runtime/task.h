#pragma once

#include <atomic>
#include <memory>

#include "stoker/core/buffer.h"

namespace stoker {

// What the calling thread is doing, for the account and the watchdog. Set
// while a piece of work runs.
struct Task {
  const std::atomic<bool>* demand = nullptr;  // on a consumer's path: memory is taken without asking
  bool always = false;                        // likewise, for lines on the path
  int64_t prepaid = 0;                        // bytes the piece was admitted with
  int64_t taken = 0;                          // bytes it took
  bool no_room = false;                       // it was refused: drop what it made and try again

  bool on_demand() const { return always || (demand && demand->load(std::memory_order_relaxed)); }

  // The calling thread's, null outside the engine.
  static Task* current();
};

// Makes a task the calling thread's while it lives. They nest: a function of
// the user's may read another loader.
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

// Marks the calling thread as doing an engine's work while it lives. They nest:
// a user function may read another loader.
class RunningScope {
 public:
  explicit RunningScope(const Engine& engine);
  ~RunningScope();
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

  static bool covers(const Engine& engine);
  // Whether the engine that this thread works for was stopped: to be read while
  // the thread does. Null where it works for none.
  static const std::atomic<bool>* stopped();

 private:
  const Engine& engine_;
  const RunningScope* const outer_;
};

// The account of one iterator: charges the process's budget.
class EngineAccount final : public Account {
 public:
  bool take(int64_t bytes, bool must) override;
  void give_back(int64_t bytes) override;
  int64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> held_{0};
};

}  // namespace stoker
