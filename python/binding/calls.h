#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <string>

namespace stoker::python {

// Calls between Python and the engine, including while the interpreter shuts down.
//
// Before Python 3.14, a thread that requests the GIL (global interpreter lock) of an
// interpreter that is shutting down is ended immediately, and the process with it,
// because C++ frames cannot be unwound like this. close_calls() therefore waits until
// threads that are between Python and the engine return, and stops those that return
// too late.

// Scope of a call from an engine thread into Python, or of a conversion between Python
// and engine values. False if the interpreter is shutting down; shutting down waits for
// the scope to end.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  explicit operator bool() const { return may_call_; }
  // Stops the thread if the interpreter no longer exists. Call it after anything that
  // may have waited, before requesting the GIL.
  static void stop_if_too_late();
  // Blocks until the process ends. For a thread that the interpreter ends inside Python
  // code: unwinding its C++ frames would abort the process, which is about to end.
  [[noreturn]] static void stop();

 private:
  bool may_call_ = false;
};

// Scope of a call from a Python thread into the engine. Releases the GIL, unless the
// interpreter is shutting down.
//
// kElements: the call may wait for Python functions, or for their end. No call may wait
// while the interpreter shuts down: for the thread that ends the interpreter, the
// constructor throws Cancelled; other threads block in it until the process ends. If a
// function that holds places of gates makes the call, other calls may take these places
// during the call; otherwise two functions that iterate each other's datasets would wait
// for each other. Afterward, the function continues without waiting for its place,
// because it may hold a lock that the other call waits for.
class EngineCall {
 public:
  enum class Kind { kElements, kOther };
  explicit EngineCall(Kind kind = Kind::kOther);
  ~EngineCall();
  // Call it with the GIL, after a call failed. If the interpreter is shutting down, which
  // was the cause, a daemon thread blocks here until the process ends.
  static void stop_if_closing();
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

 private:
  void leave_gates();
  void return_to_gates();

  PyThreadState* state_ = nullptr;
  int gates_left_ = 0;
};

// Limits the threads that call one Python function, across all stages that use it.
// Thread-safe. A call that does not return keeps its place while its iterator lives, and
// for a few seconds after the iterator was dropped. Then other calls proceed while it is
// still running, and a message reports this.
class CallGate {
  friend class EngineCall;

 public:
  CallGate();
  ~CallGate();

  // A call in progress. The constructor waits, without the GIL, until fewer than `most`
  // calls are in progress (0: no limit). False if the iterator is dropped before that.
  // `description` names the function in messages.
  class Entered {
   public:
    Entered(CallGate& gate, int64_t most, const std::string& description);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    explicit operator bool() const { return entered_; }

   private:
    friend class EngineCall;
    friend class CallGate;
    bool is_dropped() const { return stopped_ && stopped_->load(); }

    CallGate& gate_;
    const std::atomic<bool>* const stopped_;  // set when the iterator is dropped; may be null
    Entered* const outer_;
    bool entered_ = false;
    bool holds_place_ = true;
  };

 private:
  bool enter(const Entered& call, size_t most, const std::string& description);
  void enter_without_waiting(const Entered& call);
  void leave(const Entered& call);

  struct State;
  State& state();

  std::unique_ptr<State> state_;
  int forks_;  // number of forks when the state was created
};

// Rejects all further calls that wait. Called before the interpreter shuts down, with
// the GIL, which every such call requests.
void refuse_calls();
// Waits up to two seconds until the calls in progress have ended. Called after
// refuse_calls(), without the GIL.
void close_calls();

// Calls the engine without the GIL.
template <typename Body>
auto without_gil(Body&& body, EngineCall::Kind kind = EngineCall::Kind::kOther) {
  const EngineCall call(kind);
  return body();
}

}  // namespace stoker::python
