#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/error.h"
#include "stoker/core/result.h"

namespace stoker::python {

namespace nb = nanobind;

// Throws the exception of stoker.errors for the error's code, with its place as fields.
// The exception of a Python function is its __cause__. `stage` is used if the error has
// no stage: errors that occur while a graph is built have no place yet.
[[noreturn]] void raise(const Error& error, const std::string& stage = {});

// Returns text for messages. Bytes that are not UTF-8, as in some file names, are
// written as \xff.
nb::str readable(const std::string& text);

// Returns a path as os.fsdecode() returns it, so that Python can open it; None if it is empty.
nb::object path_or_none(const std::string& path);

// Returns the error of an element whose function raised; the exception is its cause.
//
// If the function runs for a loader, the exception is put into the loader's dict (see
// raised_in) until the error is freed. The error refers to it weakly.
Error error_of(nb::python_error& thrown);

// Returns a weak reference to a dict, the `owner` of a loader (LoaderOptions). The object
// that stands for the iterator in Python owns the dict, so that the garbage collector can
// see the exceptions: they often refer to an object that refers to the iterator.
std::shared_ptr<nb::object> raised_in(nb::handle dict);

// Returns the value, or throws the error as by raise().
template <typename T>
T value_of(Result<T> result, const std::string& stage = {}) {
  if (!result) raise(result.error(), stage);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace stoker::python
