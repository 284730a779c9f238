#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "stoker/graph/function.h"
#include "stoker/sources/from_generator.h"

namespace stoker::python {

namespace nb = nanobind;

// A Python callable as a stage's function: a tuple is unpacked into its
// arguments. `words` stands in explain() and in errors. At most `most_calls`
// threads call it at a time, in all iterators together; 0 sets no limit.
Function function_of(nb::object callable, std::string words, int most_calls);

// A callable that gives an iterable for each pass, and one that makes each of
// its values a structure of arrays.
std::function<NextElement()> generator_of(nb::object callable, nb::object convert);

// A callable that gives a data set for an element; `unwrap` takes the
// binding's own out of it.
GraphFunction graph_function_of(nb::object callable, std::function<Graph(nb::handle)> unwrap);

}  // namespace stoker::python
