#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace stoker::python {

// Passing between Python and the engine, also while the interpreter shuts down.
// Before Python 3.14, a thread that asks for the GIL of an interpreter that is
// shutting down is ended on the spot, and the process with it, because C++ frames
// cannot be unwound that way. close_calls() therefore lets every thread that is
// between the two sides come back, and stops those that come too late.

// A thread of the engine that calls into Python, while it lives. False once the
// interpreter shuts down.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  explicit operator bool() const { return may_call_; }
  // To be called after anything that may have waited, before asking for the GIL:
  // stops the thread where the interpreter is gone.
  static void stop_if_too_late();

 private:
  bool may_call_ = false;
};

// A thread of Python's that calls into the engine without the GIL, while it lives.
// Keeps the GIL once the interpreter shuts down: nothing in the engine waits then.
//
// kElements: the call may wait for Python functions, or for their end. If it
// is made by a function that holds places of gates, others may take these places
// meanwhile; else two functions that iterate datasets of one another's would
// wait for each other. When it returns, the function goes on without waiting for
// its place: it may hold a lock that the one inside waits for.
class EngineCall {
 public:
  enum class Kind { kElements, kOther };
  explicit EngineCall(Kind kind = Kind::kOther);
  ~EngineCall();
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

 private:
  void leave_gates();
  void return_to_gates();

  PyThreadState* state_ = nullptr;
  int gates_left_ = 0;
};

// Limits how many threads call one Python function at a time: `most`, or any
// number for 0.
class CallGate {
  friend class EngineCall;

 public:
  explicit CallGate(int most);
  ~CallGate();

  // A call in progress. Waits for a place, without the GIL.
  class Entered {
   public:
    explicit Entered(CallGate& gate);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    friend class EngineCall;
    CallGate& gate_;
    Entered* const outer_;
    bool holds_place_ = true;
  };

 private:
  void enter();
  void enter_without_waiting();
  void leave();

  struct State;
  const std::unique_ptr<State> state_;
};

// Before the interpreter shuts down: no call begins anymore, and those in progress
// end, for which it waits a while. Without the GIL.
void close_calls();

}  // namespace stoker::python
