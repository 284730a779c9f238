#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "stoker/graph/function.h"
#include "stoker/graph/graph.h"
#include "stoker/sources/from_generator.h"

namespace stoker::python {

namespace nb = nanobind;

// The element that this thread calls a Python function for. Operations that the
// function calls draw this element's random numbers, and datasets that it builds
// take their seeds from it.
class ElementScope {
 public:
  explicit ElementScope(const Context& context);
  ~ElementScope();
  ElementScope(const ElementScope&) = delete;
  ElementScope& operator=(const ElementScope&) = delete;

  static ElementScope* current();
  const Context& context() const { return context_; }
  uint64_t take_op() { return ops_++; }

 private:
  const Context& context_;
  const SeedScope seeds_;
  ElementScope* const outer_;
  uint64_t ops_ = 0;
};

// What a function gives for one element, now: inside a Python function of a stage
// with the random numbers of its element, elsewhere with those of a new call.
Result<Element> result_of(const Function& function, const Element& element);

// A Python callable as a stage's function: a tuple is unpacked into its
// arguments. `words` stands in explain() and in errors. At most `most_calls`
// threads call what the gate belongs to at a time; 0 sets no limit. Where it
// `is_sequence`, it is called in the order of its input whatever follows.
Function function_of(nb::object callable, std::string words, int most_calls, bool is_sequence, nb::object gate);

// A callable that gives an iterable for each pass, and one that makes each of
// its values a structure of arrays.
std::function<NextElement()> generator_of(nb::object callable, nb::object convert);

// A callable that gives a data set for an element; `unwrap` takes the
// binding's own out of it.
GraphFunction graph_function_of(nb::object callable, std::function<Graph(nb::handle)> unwrap);

}  // namespace stoker::python
