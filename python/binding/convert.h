#pragma once

// Conversion between Python values and elements of the engine. All functions require
// the GIL; errors are thrown as Error or nb::python_error.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/element.h"
#include "stoker/core/spec.h"

namespace stoker::python {

namespace nb = nanobind;

// Returns a NumPy array; for rank 0, a NumPy scalar. One string becomes bytes, several
// an object array. The result is writable and lives as long as its last view.
//
// kDelivered: the caller owns the memory (delivery.h), which is not copied.
// kArgument: memory that another handle refers to is copied, so that a function
// may write to what it receives.
enum class Ownership { kDelivered, kArgument };
nb::object to_python(Array array, Ownership ownership);
nb::object to_python(Element element, Ownership ownership);

// Numbers become int32 (int64 if needed) and float32, as in TensorFlow; NumPy arrays
// keep their type. kShare: the memory is not copied, and the array keeps the Python
// object alive.
enum class Memory { kCopy, kShare };
Array array_from_python(nb::handle value, Memory memory);
// Tuples and dicts are structure, everything else is one component.
Element element_from_python(nb::handle value, Memory memory);

// Returns (structure, [(dtype, shape)…]), where each leaf of the structure is its number.
// None stands for what is unknown.
nb::object to_python(const Spec& spec);

// Keeps a Python object alive. The last owner may be a thread without the GIL.
std::shared_ptr<nb::object> keep(nb::object object);

}  // namespace stoker::python
