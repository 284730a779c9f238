// The extension module stoker._core: stages and operations by their names in the
// tables, loaders and expressions. The package python/stoker adds the public API.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "python/binding/errors.h"
#include "python/binding/functions.h"
#include "python/binding/interruptible.h"
#include "python/binding/loader.h"
#include "python/binding/params.h"
#include "python/binding/prepare.h"
#include "python/binding/records.h"
#include "python/binding/watch.h"
#include "stoker/runtime/settings.h"
#include "stoker/stoker.h"

namespace stoker::python {
namespace {

// ---- parameters that have no JSON form

struct PyFunction {
  Function function;
};
struct PyGenerator {
  std::function<NextElement()> generator;
};
struct PySignature {
  Spec spec;
};
struct PyGraphFunction {
  GraphFunction function;
};
struct PyExpr {
  Expr::Ref expr;
};
// A structure of arrays in the engine's form.
struct PyElement {
  Element element;
};
struct PyArray {
  Array array;
};

bool give(nb::handle value, ReadContext& context) {
  if (nb::isinstance<PyElement>(value)) {
    const Element& element = nb::cast<PyElement&>(value).element;
    context.given.emplace_back(element);
  } else if (nb::isinstance<PyArray>(value)) {
    context.given.emplace_back(nb::cast<PyArray&>(value).array);
  } else if (nb::isinstance<Dataset>(value)) {
    context.given.emplace_back(Graph(nb::cast<Dataset&>(value)));
  } else if (nb::isinstance<PyFunction>(value)) {
    context.given.emplace_back(nb::cast<PyFunction&>(value).function);
  } else if (nb::isinstance<PyGenerator>(value)) {
    context.given.emplace_back(nb::cast<PyGenerator&>(value).generator);
  } else if (nb::isinstance<PySignature>(value)) {
    context.given.emplace_back(nb::cast<PySignature&>(value).spec);
  } else if (nb::isinstance<PyGraphFunction>(value)) {
    context.given.emplace_back(nb::cast<PyGraphFunction&>(value).function);
  } else {
    return false;
  }
  return true;
}

// Returns the spec of an element with values of the types, and an element with their
// dims: -1 for any length, a single number for any shape.
Spec signature_of(const Element& types, const Element& dims) {
  Spec spec{types.nest, {}};
  for (size_t i = 0; i < types.leaves.size(); ++i) {
    const Array& shape = dims.leaves[i];
    LeafSpec leaf{types.leaves[i].type(), std::nullopt};
    if (shape.rank() > 0) leaf.shape.emplace(shape.values<int64_t>().begin(), shape.values<int64_t>().end());
    spec.leaves.push_back(std::move(leaf));
  }
  return spec;
}

// ---- datasets

struct Written {
  std::string file;
  int line = 0;
  std::string name;
};

template <typename Type>
[[noreturn]] void refuse(const char* what, const std::string& name, std::span<const Type* const> types) {
  std::vector<std::string_view> known;
  for (const Type* type : types) known.push_back(type->name);
  const std::string near(nearest(name, known));
  raise(Error::invalid("no ", what, " named '", name, "'", near.empty() ? "" : "; did you mean '" + near + "'?"));
}

Dataset dataset_of(const std::string& stage, const nb::dict& params, const Dataset* input, const Written& at) {
  const StageType* type = registry().find_stage(stage);
  if (!type) refuse("stage", stage, registry().stages());
  const std::string& name = at.name.empty() ? stage : at.name;
  ReadContext context;
  context.registry = &registry();
  const Json json = params_of(params, context, &give);
  const auto make = [&]() -> Result<std::shared_ptr<const Node>> {
    STOKER_TRY(auto made, type->read(json, context));
    return make_node(std::move(made), input ? input->node() : nullptr, {at.file, at.line}, at.name);
  };
  return Dataset(Graph(value_of(interruptible(make), name)));
}

// Returns up to `n` of the first elements, computed on the calling thread. Does not count
// as a pass. Returns none if user functions would be called, unless `may_call`. Elements
// that fail are skipped.
std::vector<Element> first_elements(const Dataset& dataset, int64_t n, bool may_call) {
  constexpr int kMostFailures = 100;
  std::vector<Element> found;
  const auto calls_user = [](const Node* node) {
    return node->stage->calls_user() && !node->stage->type().opens_datasets;
  };
  if (!may_call && std::ranges::any_of(nodes_of(*dataset.node()), calls_user)) return found;
  Loader loader(dataset, {.prefetch_next_epoch = false,
                          .alone = true,
                          .counts_passes = false,
                          .calls_user_in_children = may_call,
                          .interrupted = &is_interrupted});
  for (int failures = 0; std::ssize(found) < n && failures < kMostFailures && !is_interrupted();) {
    Result<std::optional<Element>> next = loader.next();
    // An error that is not about an element, such as that of a forked process, is not skipped.
    const bool is_of_element = !next && !next.error().place().origin.empty();
    if (!next && (next.error().code() == Code::kCancelled ||
                  (next.error().code() == Code::kFailedPrecondition && !is_of_element)))
      throw std::move(next).error();
    if (!next)
      ++failures;
    else if (*next)
      found.push_back(**std::move(next));
    else
      break;
  }
  return found;
}

bool makes_batches(const Dataset& dataset) {
  return std::ranges::any_of(nodes_of(*dataset.node()),
                             [](const Node* node) { return node->stage->type().name == Batch::kName; });
}

// Returns whether an upstream stage makes batches, of which the last one may have fewer rows than the others.
bool may_end_with_a_short_batch(const Dataset& dataset) {
  const Spec number = Spec::scalar(DType::kInt64);
  return std::ranges::any_of(nodes_of(*dataset.node()), [&](const Node* node) {
    if (node->stage->type().name != Batch::kName) return false;
    const Result<Spec> batch = node->stage->spec({&number, 1});
    return batch && batch->leaves[0].shape && batch->leaves[0].shape->front() < 0;
  });
}

// ---- expressions

PyExpr op_of(const std::string& name, const std::vector<PyExpr>& inputs, const nb::dict& params) {
  const OpType* type = registry().find_op(name);
  if (!type) refuse("operation", name, registry().ops());
  ReadContext context;
  context.registry = &registry();
  const Json json = params_of(params, context, &give);
  auto op = value_of(type->read(json, context), name);
  std::vector<Expr::Ref> parts;
  for (const PyExpr& input : inputs) parts.push_back(input.expr);
  return {Expr::of_op(std::move(op), std::move(parts))};
}

// A Python number gets its type from the other operand; until then, it has the widest type.
PyExpr number_of(nb::handle value) {
  if (PyBool_Check(value.ptr())) return {Value(nb::cast<bool>(value)).expr()};
  if (PyLong_Check(value.ptr())) return {Value(integer_of(value)).expr()};
  return {Value(nb::cast<double>(value)).expr()};
}

PyExpr dict_of(std::vector<std::string> keys, const std::vector<PyExpr>& parts) {
  std::vector<Expr::Ref> refs;
  for (const PyExpr& part : parts) refs.push_back(part.expr);
  return {Expr::of_dict(std::move(keys), std::move(refs))};
}

PyExpr tuple_of_exprs(const std::vector<PyExpr>& parts) {
  std::vector<Expr::Ref> refs;
  for (const PyExpr& part : parts) refs.push_back(part.expr);
  return {Expr::of_tuple(std::move(refs))};
}

// Computes a program for one element immediately.
nb::object computed(const PyFunction& program, const PyElement& element) {
  const auto kind = program.function.calls_user() ? EngineCall::Kind::kElements : EngineCall::Kind::kOther;
  Result<Element> made = interruptible([&] { return result_of(program.function, element.element); }, kind);
  if (!made) raise(made.error());
  const PythonCall converting;
  return to_python(*std::move(made), Ownership::kDelivered);
}

// Converts an Error that leaves C++ to an exception of stoker.errors.
void translate(const std::exception_ptr& thrown, void*) {
  if (!thrown) PythonCall::stop();  // the interpreter ends this thread, which is not a C++ exception
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    try {
      raise(error);
    } catch (nb::python_error& made) {
      made.restore();
    }
  }
}

nb::object table_of_params(const std::vector<ParamDoc>& params) {
  nb::list all;
  for (const ParamDoc& param : params) {
    nb::dict one;
    one["name"] = param.name;
    one["type"] = param.type;
    one["doc"] = param.doc;
    one["required"] = param.required;
    one["default"] = param.default_value.text();
    all.append(one);
  }
  return all;
}

template <typename Type>
nb::dict table_of(std::span<const Type* const> types) {
  nb::dict all;
  for (const Type* type : types) {
    nb::dict one;
    one["doc"] = std::string(type->doc);
    if constexpr (std::is_same_v<Type, StageType>)
      one["source"] = type->is_source();
    else
      one["inputs"] = type->inputs < 0 ? nb::none() : nb::object(nb::int_(type->inputs));
    one["params"] = table_of_params(type->params);
    all[std::string(type->name).c_str()] = one;
  }
  return all;
}

void define_values(nb::module_& m) {
  nb::class_<PyElement>(m, "Element").def("__init__", [](PyElement* self, nb::handle value) {
    const PythonCall converting;
    new (self) PyElement{element_from_python(value, Memory::kShare)};
  });
  nb::class_<PyArray>(m, "Array").def("__init__", [](PyArray* self, nb::handle value) {
    const PythonCall converting;
    new (self) PyArray{array_from_python(value, Memory::kCopy)};
  });
  nb::class_<PyFunction>(m, "Function").def("describe", [](const PyFunction& self) {
    return self.function.describe();
  });
  nb::class_<PyGenerator>(m, "Generator")
      .def("__init__", [](PyGenerator* self, nb::object callable, nb::object convert, std::string identity) {
        new (self) PyGenerator{generator_of(std::move(callable), std::move(convert), std::move(identity))};
      });
  nb::class_<PySignature>(m, "Signature")
      .def("__init__", [](PySignature* self, const PyElement& types, const PyElement& dims) {
        new (self) PySignature{signature_of(types.element, dims.element)};
      });
  nb::class_<PyGraphFunction>(m, "GraphFunction")
      .def("__init__", [](PyGraphFunction* self, nb::object callable, nb::object gate, std::string identity,
                          const nb::list& captured, bool draws) {
        std::vector<Graph> graphs;
        for (nb::handle dataset : captured) graphs.emplace_back(nb::cast<Dataset&>(dataset).node());
        const GraphFunction function = graph_function_of(std::move(callable), std::move(gate), [](nb::handle made) {
          const auto [core, kept] = nb::cast<std::pair<nb::object, nb::object>>(made);
          return Graph(nb::cast<Dataset&>(core).node(), keep(kept));
        });
        new (self) PyGraphFunction{function.identified(std::move(identity), std::move(graphs), draws)};
      });
}

void define_expressions(nb::module_& m) {
  nb::class_<PyExpr>(m, "Expr");
  m.def("argument", [](int i) { return PyExpr{Expr::of_argument(i)}; });
  m.def("number", &number_of);
  m.def("constant",
        [](nb::handle value) { return PyExpr{Expr::of_constant(array_from_python(value, Memory::kCopy), false)}; });
  m.def("op", &op_of);
  m.def("tuple_expr", &tuple_of_exprs);
  m.def("dict_expr", &dict_of);
  m.def("get", [](const PyExpr& from, std::string key) { return PyExpr{Expr::of_get(from.expr, std::move(key))}; });
  m.def("program", [](const PyExpr& result, int arguments) {
    return PyFunction{Function(value_of(Program::compile(result.expr, arguments)))};
  });
  m.def("computed", &computed);
  nb::class_<CallGate>(m, "CallGate", nb::is_weak_referenceable()).def(nb::init<>());
  m.def("python_function", [](nb::object callable, std::string description, std::string identity, int most_calls,
                              bool is_sequence, bool draws, nb::object gate) {
    return PyFunction{function_of(std::move(callable), std::move(description), std::move(identity), most_calls,
                                  is_sequence, draws, std::move(gate))};
  });
}

void define_dataset(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset")
      .def_static("source",
                  [](const std::string& stage, const nb::dict& params, std::string file, int line, std::string name) {
                    return dataset_of(stage, params, nullptr, {std::move(file), line, std::move(name)});
                  })
      .def("then",
           [](const Dataset& self, const std::string& stage, const nb::dict& params, std::string file, int line,
              std::string name) { return dataset_of(stage, params, &self, {std::move(file), line, std::move(name)}); })
      .def("cardinality",
           [](const Dataset& self) { return value_of(interruptible([&] { return self.cardinality(); })); })
      // As far as it is known without reading files that are read forward.
      .def("is_endless",
           [](const Dataset& self) {
             const Result<int64_t> count =
                 interruptible([&] { return cardinality_of(*self.node(), Counting::kAsKnown); });
             return count && *count == kInfinite;
           })
      .def("element_spec", [](const Dataset& self) { return to_python(self.element_spec()); })
      .def("makes_batches", &makes_batches)
      .def("may_end_with_a_short_batch", &may_end_with_a_short_batch)
      .def("at",
           [](const Dataset& self, int64_t i) {
             return to_python(value_of(interruptible([&] { return self.at(i); }, EngineCall::Kind::kElements)),
                              Ownership::kDelivered);
           })
      .def("first_elements",
           [](const Dataset& self, int64_t n, bool may_call) {
             nb::list all;
             for (Element& element : value_of(
                      interruptible([&]() -> Result<std::vector<Element>> { return first_elements(self, n, may_call); },
                                    EngineCall::Kind::kElements)))
               all.append(to_python(std::move(element), Ownership::kDelivered));
             return all;
           })
      .def("replay",
           [](const Dataset& self, const std::string& origin) {
             return to_python(value_of(interruptible([&] { return self.replay(origin); }, EngineCall::Kind::kElements)),
                              Ownership::kDelivered);
           })
      .def("explain",
           [](const Dataset& self) { return readable(value_of(interruptible([&] { return self.explain(); }))); })
      .def("to_json", [](const Dataset& self) { return value_of(interruptible([&] { return self.to_json(); })); })
      .def("save_graph",
           [](const Dataset& self, const std::string& path) {
             value_of(interruptible([&] { return self.save_graph(path); }));
           })
      .def_static(
          "load_graph",
          [](const std::string& path) { return value_of(interruptible([&] { return Dataset::load_graph(path); })); })
      .def_static("from_json", [](const std::string& text) {
        return value_of(interruptible([&] { return Dataset::from_json(text); }));
      });
}

void define_process(nb::module_& m) {
  m.def("stages", [] { return table_of(registry().stages()); });
  m.def("ops", [] { return table_of(registry().ops()); });
  m.def("set_seed", &set_seed);
  m.def(
      "configure",
      [](std::optional<int64_t> workers, std::optional<int64_t> memory_bytes) {
        if (workers) value_of(check_workers(*workers));
        without_gil([&] { configure({.workers = workers, .memory_bytes = memory_bytes}); });
      },
      nb::arg("workers") = nb::none(), nb::arg("memory_bytes") = nb::none());
  m.def("parse_bytes", [](const std::string& text) { return value_of(parse_bytes(text)); });
  m.def("memory_use", [] {
    const MemoryUse use = memory_use();
    return nb::make_tuple(use.held, use.peak, use.budget);
  });
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(&translate);
  nb::set_leak_warnings(false);  // a program may end with iterators alive: they are closed at exit
  define_values(m);
  define_expressions(m);
  define_dataset(m);
  define_loader(m);
  define_watch(m);
  define_records(m);
  define_prepare(m);
  define_process(m);
}

}  // namespace stoker::python
