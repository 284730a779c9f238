#pragma once

// Python callables as functions of stages, as generators and as functions that return
// datasets. They may be called from any thread without the GIL.

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

// Computes a function for one element immediately: inside a Python function of a stage,
// with the random numbers of its element; elsewhere, with those of a new call.
Result<Element> result_of(const Function& function, const Element& element);

// Returns a stage's function that calls a Python callable; a tuple is unpacked into its
// arguments. explain() and errors show `description`; checkpoints compare `identity`. At most
// `most_calls` threads call what the gate belongs to at a time; 0 sets no limit. With
// `is_sequence`, it is called in the order of its input, whatever follows downstream.
// `draws`: it may use the random numbers of its element.
Function function_of(nb::object callable, std::string description, std::string identity, int most_calls,
                     bool is_sequence, bool draws, nb::object gate);

// Returns the source of a callable that returns an iterable for each pass. `convert`
// turns each value into a structure of arrays. Checkpoints compare `identity`.
std::function<NextElement()> generator_of(nb::object callable, nb::object convert, std::string identity);

// Returns the function of a callable that returns a dataset for an element. `unwrap`
// returns the graph of that dataset. One thread at a time calls what the gate belongs to.
GraphFunction graph_function_of(nb::object callable, nb::object gate, std::function<Graph(nb::handle)> unwrap);

}  // namespace stoker::python
