#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "stoker/core/element.h"
#include "stoker/core/spec.h"

namespace stoker::python {

namespace nb = nanobind;

// An array as NumPy's: numbers of rank 0 as scalars, one string as bytes,
// several as an object array. The memory is the array's own, writable, and
// lives as long as the last view.
nb::object to_python(const Array& array);
nb::object to_python(const Element& element);

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
