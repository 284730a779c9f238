#include "python/binding/interruptible.h"

#include <cxxabi.h>

namespace stoker::python {

namespace nb = nanobind;

bool signals_pending() {
  PythonCall::stop_if_too_late();
  try {
    const nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
  } catch (abi::__forced_unwind&) {
    PythonCall::stop();
  }
}

void throw_if_interrupted() {
  if (PyErr_Occurred()) throw nb::python_error();
}

}  // namespace stoker::python
