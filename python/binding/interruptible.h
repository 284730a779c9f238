#pragma once

#include "python/binding/calls.h"
#include "stoker/core/error.h"
#include "stoker/core/interrupt.h"

namespace stoker::python {

// Runs the Python handlers of pending signals, such as Ctrl-C. Returns true if one raised. Called without the GIL.
bool signals_pending();

// Throws the exception that a signal handler raised, if one did. Called with the GIL.
void throw_if_interrupted();

// Calls the engine without the GIL and checks for signals: for calls that may read many files, or run an epoch.
template <typename Body>
auto interruptible(Body&& body, EngineCall::Kind kind = EngineCall::Kind::kOther) -> decltype(body()) {
  decltype(body()) result = Error::cancelled();
  {
    const EngineCall call(kind);
    const InterruptScope scope(&signals_pending);
    try {
      result = body();
    } catch (const Error& error) {
      result = error;
    }
  }
  throw_if_interrupted();
  return result;
}

}  // namespace stoker::python
