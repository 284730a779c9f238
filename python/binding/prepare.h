#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

// Defines pack, index, verify and inspect for stoker._prepare. Paths are bytes, as os.fsencode() returns them; results
// are dicts, lists and tuples. `progress` is None or a function that receives (phase, done, total, unit, items,
// item_unit, bytes); an exception that it raises ends the call.
void define_prepare(nanobind::module_& m);

}  // namespace stoker::python
