#pragma once

#include <nanobind/nanobind.h>

namespace stoker::python {

// Defines Loader and close_all.
void define_loader(nanobind::module_& m);

}  // namespace stoker::python
