#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/error.h"
#include "stoker/core/result.h"

namespace stoker::python {

namespace nb = nanobind;

// Throws as the class of stoker.errors that its code names, with its place as
// fields and what a Python function threw as __cause__.
[[noreturn]] void raise(const Error& error);

// The error of an element whose function threw; the exception goes with it.
Error error_of(nb::python_error& thrown);

// A value, or the exception.
template <typename T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace stoker::python
