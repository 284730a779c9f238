#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "stoker/graph/fields.h"

namespace stoker::python {

namespace nb = nanobind;

// Parameters of a stage or an operation as its table reads them: what has a
// text as JSON, objects (arrays, data sets, functions) as given ones, which
// `given` recognises and puts into the context. None is left out.
using Give = std::function<bool(nb::handle value, ReadContext& context)>;
Json params_of(const nb::dict& params, ReadContext& context, const Give& give);

}  // namespace stoker::python
