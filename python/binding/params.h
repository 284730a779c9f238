#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "stoker/graph/fields.h"

namespace stoker::python {

namespace nb = nanobind;

// Adds an object that has no JSON form (an array, a dataset, a function) to the context.
// Returns false if it does not support the object.
using Give = std::function<bool(nb::handle value, ReadContext& context)>;

// Returns the value of a Python integer. Throws InvalidArgument if it has more than 64 bits.
int64_t integer_of(nb::handle value);

// Returns the parameters of a stage or an operation as JSON. Objects that `give` accepts
// are written as references into the context. Parameters that are None are omitted.
// Throws InvalidArgument, with the parameter's name, for unsupported types.
Json params_of(const nb::dict& params, ReadContext& context, const Give& give);

}  // namespace stoker::python
