#include "python/binding/calls.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/core/fork.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/mutex.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/task.h"

namespace stoker::python {
namespace {

struct Calls;
Calls& calls();

constexpr std::chrono::seconds kPatience{2};

// How long calls wait for one whose iterator was dropped, and how often they check it.
constexpr std::chrono::seconds kPatienceWithDropped{5};
constexpr std::chrono::milliseconds kLookAgain{50};

thread_local int calls_of_this_thread = 0;

struct Calls {
  Mutex mutex;
  Condition ended;
  int in_progress STOKER_GUARDED_BY(mutex) = 0;   // in either direction
  bool closing STOKER_GUARDED_BY(mutex) = false;  // no call begins anymore
  bool interpreter_gone STOKER_GUARDED_BY(mutex) = false;
  std::thread::id closing_thread STOKER_GUARDED_BY(mutex);

  // In a forked child, the other threads and their calls do not exist.
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

// Returns false if the interpreter is shutting down. `counts_anyway`: the call is counted even then.
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

// Whether a thread other than this one is shutting the interpreter down.
bool is_closing_for_others() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  return all.closing && all.closing_thread != std::this_thread::get_id();
}

thread_local CallGate::Entered* innermost = nullptr;

}  // namespace

PythonCall::PythonCall() : may_call_(begin_call(true)) {}

PythonCall::~PythonCall() { end_call(); }

void PythonCall::stop_if_too_late() {
  if (is_interpreter_gone()) stop();
}

void PythonCall::stop() {
  while (true) pause();
}

void EngineCall::stop_if_closing() {
  if (!is_closing_for_others()) return;
  PyEval_SaveThread();
  PythonCall::stop();
}

EngineCall::EngineCall(Kind kind) {
  if (!begin_call(false)) {
    if (kind != Kind::kElements) return;
    stop_if_closing();
    throw Error(Code::kCancelled, "the Python interpreter is shutting down");
  }
  state_ = PyEval_SaveThread();
  if (kind == Kind::kElements) leave_gates();
}

void EngineCall::leave_gates() {
  for (CallGate::Entered* at = innermost; at && at->holds_place_; at = at->outer_, ++gates_left_) {
    at->holds_place_ = false;
    at->gate_.leave(*at);
  }
}

void EngineCall::return_to_gates() {
  for (CallGate::Entered* at = innermost; gates_left_ > 0; at = at->outer_, --gates_left_) {
    at->gate_.enter_without_waiting(*at);
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

void refuse_calls() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  all.closing = true;
  all.closing_thread = std::this_thread::get_id();
}

void close_calls() {
  Calls& all = calls();
  const MutexLock lock(all.mutex);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (all.in_progress > 0 && all.ended.wait_until(all.mutex, until) == std::cv_status::no_timeout) {
  }
  all.interpreter_gone = true;
}

// ---- one call at a time

struct CallGate::State {
  Mutex mutex;
  Condition left;
  std::vector<const Entered*> inside STOKER_GUARDED_BY(mutex);

  size_t living() const STOKER_REQUIRES(mutex) {
    return static_cast<size_t>(std::ranges::count(inside, false, &Entered::is_dropped));
  }
};

CallGate::CallGate() : state_(std::make_unique<State>()), forks_(forks_so_far()) {}
CallGate::~CallGate() = default;

// In a forked child, the other threads do not exist; one of them may have held the lock. The old state is leaked.
CallGate::State& CallGate::state() {
  if (forks_ != forks_so_far()) {
    (void)state_.release();
    state_ = std::make_unique<State>();
    forks_ = forks_so_far();
  }
  return *state_;
}

bool CallGate::enter(const Entered& call, size_t most, const std::string& description) {
  State& at = state();
  const MutexLock lock(at.mutex);
  const auto patience = std::chrono::steady_clock::now() + kPatienceWithDropped;
  bool interrupted = false;
  while (most > 0 && at.inside.size() >= most && !call.is_dropped() && !interrupted) {
    if (at.living() < most && std::chrono::steady_clock::now() > patience) {
      post("stoker: " + description +
           " has not returned although its iterator was dropped; another iterator calls it now");
      std::erase_if(at.inside, [](const Entered* one) { return one->is_dropped(); });  // no call waits for it again
      continue;
    }
    at.left.wait_for(at.mutex, kLookAgain);
    at.mutex.unlock();
    interrupted = is_interrupted();
    at.mutex.lock();
  }
  if (call.is_dropped() || interrupted) return false;
  at.inside.push_back(&call);
  return true;
}

void CallGate::enter_without_waiting(const Entered& call) {
  State& at = state();
  const MutexLock lock(at.mutex);
  at.inside.push_back(&call);
}

void CallGate::leave(const Entered& call) {
  State& at = state();
  const MutexLock lock(at.mutex);
  std::erase(at.inside, &call);
  at.left.notify_all();
}

CallGate::Entered::Entered(CallGate& gate, int64_t most, const std::string& description)
    : gate_(gate), stopped_(RunningScope::stopped()), outer_(std::exchange(innermost, this)) {
  entered_ = holds_place_ = gate_.enter(*this, static_cast<size_t>(most), description);
  PythonCall::stop_if_too_late();
}
CallGate::Entered::~Entered() {
  gate_.leave(*this);
  innermost = outer_;
}

}  // namespace stoker::python
