#pragma once

namespace stoker::python {

// A thread of the engine's that wants the interpreter, while it lives. False
// once the interpreter is going: a thread that came back to it then would be
// taken down, and the process with it.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  explicit operator bool() const { return may_call_; }

 private:
  bool may_call_ = false;
};

// Before the interpreter goes: no call begins any more, and those in progress
// end, for which it waits a while. Without the interpreter's lock.
void finish_calls();

}  // namespace stoker::python
