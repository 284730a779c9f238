#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/element.h"
#include "stoker/core/spec.h"

namespace stoker::python {

namespace nb = nanobind;

// An array as a NumPy array: numbers of rank 0 as scalars, one string as bytes,
// several as an object array. The result is writable and lives as long as its
// last view.
//
// kDelivered: the caller owns the memory (delivery.h), which is not copied.
// kArgument: memory that another handle refers to is copied, so that a function
// may write to what it receives.
enum class Ownership { kDelivered, kArgument };
nb::object to_python(Array array, Ownership ownership);
nb::object to_python(Element element, Ownership ownership);

// Numbers become int32 (int64 where needed) and float32, as in TensorFlow;
// NumPy arrays keep their type. kShare: the memory stays the caller's and is
// not copied.
enum class Memory { kCopy, kShare };
Array array_from_python(nb::handle value, Memory memory);
// Tuples and dicts are structure, everything else one component.
Element element_from_python(nb::handle value, Memory memory);

// (structure, [(dtype, shape)…]) with a leaf's number in its place; None: unknown.
nb::object to_python(const Spec& spec);

// Keeps a Python object for as long as some other thread needs it.
std::shared_ptr<nb::object> keep(nb::object object);

}  // namespace stoker::python
