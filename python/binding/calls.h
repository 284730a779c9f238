#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <string>

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
  // Never returns: for a thread that the interpreter ends inside Python code. The
  // process is about to end, and unwinding C++ frames would abort it.
  [[noreturn]] static void stop();

 private:
  bool may_call_ = false;
};

// A thread of Python's that calls into the engine without the GIL, while it lives.
// Keeps the GIL once the interpreter shuts down.
//
// kElements: the call may wait for Python functions, or for their end. Nothing may
// wait once the interpreter shuts down: the thread that ends it gets Cancelled,
// thrown; others stay in the call until the process is gone. If it
// is made by a function that holds places of gates, others may take these places
// meanwhile; else two functions that iterate datasets of one another's would
// wait for each other. When it returns, the function goes on without waiting for
// its place: it may hold a lock that the one inside waits for.
class EngineCall {
 public:
  enum class Kind { kElements, kOther };
  explicit EngineCall(Kind kind = Kind::kOther);
  ~EngineCall();
  // With the GIL, after a call that failed: a daemon thread stays here if the
  // interpreter shuts down, which was the reason.
  static void stop_if_closing();
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

 private:
  void leave_gates();
  void return_to_gates();

  PyThreadState* state_ = nullptr;
  int gates_left_ = 0;
};

// Counts the threads that call one Python function, in whatever stages it stands.
// A call that does not return keeps its place while its iterator lives, and for a
// few seconds after it was dropped: then others go on beside it, with a message.
class CallGate {
  friend class EngineCall;

 public:
  CallGate();
  ~CallGate();

  // A call in progress. Waits, without the GIL, until fewer than `most` calls are
  // (0: for none). False if its iterator is dropped before.
  class Entered {
   public:
    Entered(CallGate& gate, int64_t most, const std::string& words);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    explicit operator bool() const { return entered_; }

   private:
    friend class EngineCall;
    friend class CallGate;
    bool is_dropped() const { return stopped_ && stopped_->load(); }

    CallGate& gate_;
    const std::atomic<bool>* const stopped_;  // its iterator
    Entered* const outer_;
    bool entered_ = false;
    bool holds_place_ = true;
  };

 private:
  bool enter(const Entered& call, size_t most, const std::string& words);
  void enter_without_waiting(const Entered& call);
  void leave(const Entered& call);

  struct State;
  State& state();

  std::unique_ptr<State> state_;
  int forks_;  // that had happened when the state was made
};

// Before the interpreter shuts down: no call that waits begins anymore. With the
// GIL, which every such call asks for.
void refuse_calls();
// Then: those in progress end, for which it waits a while. Without the GIL.
void close_calls();

}  // namespace stoker::python
