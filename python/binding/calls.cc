#include "python/binding/calls.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "stoker/core/fork.h"
#include "stoker/core/mutex.h"

namespace stoker::python {
namespace {

struct Calls;
Calls& calls();

constexpr std::chrono::seconds kPatience{2};

thread_local int calls_of_this_thread = 0;

struct Calls {
  Mutex mutex;
  Condition ended;
  int in_progress STOKER_GUARDED_BY(mutex) = 0;   // in either direction
  bool closing STOKER_GUARDED_BY(mutex) = false;  // none begins anymore
  bool interpreter_gone STOKER_GUARDED_BY(mutex) = false;

  // In a forked child the other threads, and their calls, do not exist.
  Calls() {
    hold_across_fork(mutex.native());
    pthread_atfork(nullptr, nullptr, [] { calls().forget_other_threads(); });
  }
  void forget_other_threads() {
    const MutexLock lock(mutex);
    in_progress = calls_of_this_thread;
  }
};

// Never destroyed: threads of the engine outlive every static object.
Calls& calls() {
  static auto* all = new Calls;
  return *all;
}

void end_call() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  --calls_of_this_thread;
  if (--all.in_progress == 0) all.ended.notify_all();
}

// False once the interpreter shuts down.
bool begin_call(bool counts_anyway) {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  if (all.closing && !counts_anyway) return false;
  ++all.in_progress;
  ++calls_of_this_thread;
  return !all.closing;
}

bool is_interpreter_gone() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  return all.interpreter_gone;
}

thread_local CallGate::Entered* innermost = nullptr;

}  // namespace

PythonCall::PythonCall() : may_call_(begin_call(true)) {}

PythonCall::~PythonCall() { end_call(); }

void PythonCall::stop_if_too_late() {
  if (is_interpreter_gone())
    while (true) pause();  // the process is about to end
}

EngineCall::EngineCall(Kind kind) {
  if (!begin_call(false)) return;
  state_ = PyEval_SaveThread();
  if (kind == Kind::kElements) leave_gates();
}

void EngineCall::leave_gates() {
  for (CallGate::Entered* at = innermost; at && at->holds_place_; at = at->outer_, ++gates_left_) {
    at->holds_place_ = false;
    at->gate_.leave();
  }
}

void EngineCall::return_to_gates() {
  for (CallGate::Entered* at = innermost; gates_left_ > 0; at = at->outer_, --gates_left_) {
    at->gate_.enter_without_waiting();
    at->holds_place_ = true;
  }
}

EngineCall::~EngineCall() {
  if (!state_) return;
  return_to_gates();
  PythonCall::stop_if_too_late();
  PyEval_RestoreThread(state_);
  end_call();
}

void close_calls() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  all.closing = true;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (all.in_progress > 0 && all.ended.wait_until(all.mutex, until) == std::cv_status::no_timeout) {
  }
  all.interpreter_gone = true;
}

// ---- one call at a time

struct CallGate::State {
  explicit State(int most_in) : most(most_in) {}

  const int most;
  Mutex mutex;
  Condition left;
  int inside STOKER_GUARDED_BY(mutex) = 0;
};

CallGate::CallGate(int most) : state_(std::make_unique<State>(most)) {}
CallGate::~CallGate() = default;

void CallGate::enter() {
  if (state_->most == 0) return;
  const MutexLock lock(state_->mutex);
  while (state_->inside >= state_->most) state_->left.wait(state_->mutex);
  ++state_->inside;
}

void CallGate::enter_without_waiting() {
  const MutexLock lock(state_->mutex);
  ++state_->inside;
}

void CallGate::leave() {
  if (state_->most == 0) return;
  const MutexLock lock(state_->mutex);
  --state_->inside;
  state_->left.notify_one();
}

CallGate::Entered::Entered(CallGate& gate) : gate_(gate), outer_(std::exchange(innermost, this)) { gate_.enter(); }
CallGate::Entered::~Entered() {
  gate_.leave();
  innermost = outer_;
}

}  // namespace stoker::python
