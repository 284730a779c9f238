#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/error.h"
#include "stoker/core/result.h"

namespace stoker::python {

namespace nb = nanobind;

// Throws as the class of stoker.errors that its code names, with its place as
// fields and what a Python function threw as __cause__. `stage` is told where the
// error does not know it: what is refused while a graph is made has no place yet.
[[noreturn]] void raise(const Error& error, const std::string& stage = {});

// For people to read: bytes that are no UTF-8, as names of files may have, stand as \xff.
nb::str readable(const std::string& text);

// The error of an element whose function threw; the exception goes with it.
Error error_of(nb::python_error& thrown);

// A value, or the exception.
template <typename T>
T value_of(Result<T> result, const std::string& stage = {}) {
  if (!result) raise(result.error(), stage);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace stoker::python
