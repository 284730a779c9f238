// The extension module stoker._core: data sets and operations by name, from
// the tables; loaders; expressions. What Python code should look like is the
// package's business.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "python/binding/errors.h"
#include "python/binding/functions.h"
#include "python/binding/params.h"
#include "python/binding/records.h"
#include "python/binding/watch.h"
#include "stoker/core/interrupt.h"
#include "stoker/runtime/settings.h"
#include "stoker/stoker.h"

namespace stoker::python {
namespace {

// ---- what stands for objects among parameters

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
// An array or a structure of arrays, ready.
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

// From an element of the types wanted and one of their dims: -1 for any length,
// a single number for any shape.
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

template <typename Body>
auto without_gil(Body&& body, EngineCall::Kind kind = EngineCall::Kind::kOther) {
  const EngineCall call(kind);
  return body();
}

// Ctrl-C reaches Python's own handler while the thread waits.
bool signals_pending() {
  PythonCall::stop_if_too_late();
  try {
    const nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
  } catch (abi::__forced_unwind&) {
    PythonCall::stop();
  }
}

void throw_if_interrupted() {
  if (PyErr_Occurred()) throw nb::python_error();  // a signal's handler threw
}

// The same for what may look at many files, or run an epoch.
template <typename Body>
auto interruptible(Body&& body, EngineCall::Kind kind = EngineCall::Kind::kOther) -> decltype(body()) {
  decltype(body()) result = Error::cancelled();
  {
    const EngineCall call(kind);
    const InterruptScope scope(&signals_pending);
    try {
      result = body();
    } catch (const Error& error) {
      result = error;
    }
  }
  throw_if_interrupted();
  return result;
}

// ---- data sets

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

// Up to `n` elements that show what the dataset gives, made on the calling thread
// alone; takes no pass. None where a function of the user's would be called, unless
// it `may_call`; those that fail are left out.
std::vector<Element> first_elements(const Dataset& dataset, int64_t n, bool may_call) {
  constexpr int kMostFailures = 100;
  std::vector<Element> found;
  const auto calls_user = [](const Node* node) { return node->stage->calls_user() && !node->stage->type().opens; };
  if (!may_call && std::ranges::any_of(nodes_of(*dataset.node()), calls_user)) return found;
  Loader loader(
      dataset,
      {.prefetch_next_epoch = false, .alone = true, .calls_user_in_children = may_call, .interrupted = &is_interrupted},
      Location{});
  for (int failures = 0; std::ssize(found) < n && failures < kMostFailures && !is_interrupted();) {
    Result<std::optional<Element>> next = loader.next();
    if (!next)
      ++failures;
    else if (*next)
      found.push_back(**std::move(next));
    else
      break;
  }
  return found;
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

// A plain number takes its type from the other operand; it comes in its widest.
PyExpr number_of(nb::handle value) {
  if (PyBool_Check(value.ptr())) return {Value(nb::cast<bool>(value)).expr()};
  if (PyLong_Check(value.ptr())) return {Value(nb::cast<int64_t>(value)).expr()};
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

// What a program gives for one element, now.
nb::object computed(const PyFunction& program, const PyElement& element) {
  const auto kind = program.function.calls_user() ? EngineCall::Kind::kElements : EngineCall::Kind::kOther;
  Result<Element> made = interruptible([&] { return result_of(program.function, element.element); }, kind);
  if (!made) raise(made.error());
  return to_python(*std::move(made), Ownership::kDelivered);
}

// ---- loaders

// A loader whose members all run without the GIL, which the functions that they
// wait for need.
class PyLoader {
 public:
  PyLoader(const Dataset& dataset, bool skip, double at_most, double stall_warning, std::string file, int line)
      : loader_(std::make_shared<Loader>(dataset,
                                         LoaderOptions{.on_error = skip ? std::optional(OnError::kSkip) : std::nullopt,
                                                       .skip_at_most = at_most,
                                                       .stall_warning_seconds = stall_warning,
                                                       .prefetch_next_epoch = false,
                                                       .interrupted = &signals_pending},
                                         Location{std::move(file), line})) {
    alive().emplace(this, loader_);
  }
  ~PyLoader() {
    alive().erase(this);
    const EngineCall call;
    loader_.reset();
  }
  PyLoader(const PyLoader&) = delete;
  PyLoader& operator=(const PyLoader&) = delete;

  // (element,) or None at the end.
  nb::object next() {
    Result<std::optional<Element>> element = without_gil([&] { return loader_->next(); }, kElements);
    throw_if_interrupted();
    if (!element && element.error().code() == Code::kCancelled) EngineCall::stop_if_closing();
    if (!element && element.error().ends_program()) without_gil([&] { loader_->close(kPatience); }, kElements);
    std::optional<Element> delivered = value_of(std::move(element));
    if (!delivered) return nb::none();
    return nb::make_tuple(to_python(*std::move(delivered), Ownership::kDelivered));
  }
  void begin_epoch(std::string file, int line) {
    try {
      without_gil([&] { loader_->begin_epoch({std::move(file), line}); }, kElements);
    } catch (const Error&) {
      throw_if_interrupted();
      throw;
    }
  }
  void watched_by(const PyRecorder& recorder) {
    without_gil([&] { recorder.look_while_waiting_in(*loader_); });
  }
  nb::bytes save() {
    Result<std::string> saved = without_gil([&] { return loader_->save(); });
    throw_if_interrupted();
    const std::string text = value_of(std::move(saved));
    return nb::bytes(text.data(), text.size());
  }
  void restore(const nb::bytes& checkpoint) {
    const std::string text(checkpoint.c_str(), checkpoint.size());
    Result<void> restored = without_gil([&] { return loader_->restore(text); }, kElements);
    throw_if_interrupted();
    value_of(std::move(restored));
  }
  std::string stats() {
    return without_gil([&] { return loader_->stats(); });
  }
  nb::list skipped() {
    nb::list all;
    for (const Skipped& one : without_gil([&] { return loader_->skipped(); }))
      all.append(nb::make_tuple(one.origin, std::string(name_of(one.error.code())), readable(one.error.words())));
    return all;
  }
  double wait_seconds() const {
    return without_gil([&] { return loader_->wait_seconds(); });
  }
  void release() {
    without_gil([&] { loader_->release(); }, kElements);
  }
  void close() {
    without_gil([&] { loader_->close(); }, kElements);
    throw_if_interrupted();
  }

  // Before the interpreter shuts down: no thread may call into it afterward.
  static void close_all() {
    refuse_calls();
    std::vector<std::shared_ptr<Loader>> loaders;
    for (const auto& [owner, loader] : alive())
      if (std::shared_ptr<Loader> still = loader.lock()) loaders.push_back(std::move(still));
    const nb::gil_scoped_release released;
    for (const std::shared_ptr<Loader>& loader : loaders) loader->close(kPatience);
    close_calls();
  }

 private:
  // What waits for functions of the user's, or for their end.
  static constexpr EngineCall::Kind kElements = EngineCall::Kind::kElements;
  // How long a program that ends waits for a function that does not return.
  static constexpr std::chrono::milliseconds kPatience{30};

  static std::map<PyLoader*, std::weak_ptr<Loader>>& alive() {  // under the GIL
    static auto* all = new std::map<PyLoader*, std::weak_ptr<Loader>>;
    return *all;
  }

  std::shared_ptr<Loader> loader_;
};

// Errors of ours that leave C++ become exceptions of stoker.errors.
void translate(const std::exception_ptr& thrown, void*) {
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
    one["default"] = param.standard.text();
    all.append(one);
  }
  return all;
}

bool is_source(const StageType& type) { return type.form == Form::kList || type.form == Form::kStream; }

template <typename Type>
nb::dict table_of(std::span<const Type* const> types) {
  nb::dict all;
  for (const Type* type : types) {
    nb::dict one;
    one["doc"] = std::string(type->doc);
    if constexpr (std::is_same_v<Type, StageType>)
      one["source"] = is_source(*type);
    else
      one["inputs"] = type->inputs < 0 ? nb::none() : nb::object(nb::int_(type->inputs));
    one["params"] = table_of_params(type->params);
    all[std::string(type->name).c_str()] = one;
  }
  return all;
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(&translate);
  nb::set_leak_warnings(false);  // a program may end with iterators alive: they are closed at exit

  nb::class_<PyElement>(m, "Element").def("__init__", [](PyElement* self, nb::handle value) {
    new (self) PyElement{element_from_python(value, Memory::kShare)};
  });
  nb::class_<PyArray>(m, "Array").def("__init__", [](PyArray* self, nb::handle value) {
    new (self) PyArray{array_from_python(value, Memory::kCopy)};
  });
  nb::class_<PyFunction>(m, "Function").def("words", [](const PyFunction& self) { return self.function.words(); });
  nb::class_<PyGenerator>(m, "Generator")
      .def("__init__", [](PyGenerator* self, nb::object callable, nb::object convert) {
        new (self) PyGenerator{generator_of(std::move(callable), std::move(convert))};
      });
  nb::class_<PySignature>(m, "Signature")
      .def("__init__", [](PySignature* self, const PyElement& types, const PyElement& dims) {
        new (self) PySignature{signature_of(types.element, dims.element)};
      });
  nb::class_<PyGraphFunction>(m, "GraphFunction").def("__init__", [](PyGraphFunction* self, nb::object callable) {
    new (self) PyGraphFunction{
        graph_function_of(std::move(callable), [](nb::handle made) { return Graph(nb::cast<Dataset&>(made)); })};
  });

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
  m.def(
      "python_function", [](nb::object callable, std::string words, int most_calls, bool is_sequence, nb::object gate) {
        return PyFunction{function_of(std::move(callable), std::move(words), most_calls, is_sequence, std::move(gate))};
      });

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
      // As far as is known without looking at files that are read forward.
      .def("is_endless",
           [](const Dataset& self) {
             const Result<int64_t> count =
                 interruptible([&] { return cardinality_of(*self.node(), Counting::kAsKnown); });
             return count && *count == kInfinite;
           })
      .def("element_spec", [](const Dataset& self) { return to_python(self.element_spec()); })
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
      .def("explain", [](const Dataset& self) { return value_of(interruptible([&] { return self.explain(); })); })
      .def("to_json", [](const Dataset& self) { return value_of(without_gil([&] { return self.to_json(); })); })
      .def("save_graph", [](const Dataset& self,
                            const std::string& path) { value_of(without_gil([&] { return self.save_graph(path); })); })
      .def_static(
          "load_graph",
          [](const std::string& path) { return value_of(without_gil([&] { return Dataset::load_graph(path); })); })
      .def_static("from_json", [](const std::string& text) { return value_of(Dataset::from_json(text)); });

  nb::class_<PyLoader>(m, "Loader")
      .def(nb::init<const Dataset&, bool, double, double, std::string, int>(), nb::arg("dataset"),
           nb::arg("skip") = false, nb::arg("at_most") = 1.0, nb::arg("stall_warning_seconds") = 30.0,
           nb::arg("file") = "", nb::arg("line") = 0)
      .def("next", &PyLoader::next)
      .def("begin_epoch", &PyLoader::begin_epoch)
      .def("watched_by", &PyLoader::watched_by)
      .def("save", &PyLoader::save)
      .def("restore", &PyLoader::restore)
      .def("stats", &PyLoader::stats)
      .def("skipped", &PyLoader::skipped)
      .def("wait_seconds", &PyLoader::wait_seconds)
      .def("release", &PyLoader::release)
      .def("close", &PyLoader::close);
  bind_watch(m);
  m.def("close_all", &PyLoader::close_all);

  define_records(m);
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

}  // namespace stoker::python
