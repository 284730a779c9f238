#include "python/binding/functions.h"

#include <cxxabi.h>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "python/binding/errors.h"
#include "stoker/core/fork.h"
#include "stoker/runtime/delivery.h"

namespace stoker::python {
namespace {

// Returns the arguments of a call: the fields of a tuple, else the element itself.
nb::tuple arguments_of(Element element) {
  const bool unpacks = element.nest->kind() == Nest::Kind::kTuple;
  nb::object value = to_python(std::move(element), Ownership::kArgument);
  return unpacks ? nb::cast<nb::tuple>(value) : nb::make_tuple(value);
}

// A list that a function returns counts as a tuple.
nb::object as_structure(nb::object result) { return PyList_Check(result.ptr()) ? nb::tuple(result) : result; }

// Runs the body and returns what Python raised as the element's error.
template <typename Body>
auto guarded(Body&& body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (abi::__forced_unwind&) {  // the interpreter ends the thread (before Python 3.14)
    PythonCall::stop();
  } catch (nb::python_error& thrown) {
    return error_of(thrown);
  } catch (const Error& error) {
    return error;
  }
}

class PythonFunction final : public Function::Callable {
 public:
  PythonFunction(nb::object callable, std::string description, std::string identity, int most_calls, bool is_sequence,
                 bool draws, nb::object gate)
      : callable_(keep(std::move(callable))),
        description_(std::move(description)),
        identity_(std::move(identity)),
        most_calls_(most_calls),
        is_sequence_(is_sequence),
        draws_(draws),
        gate_(nb::cast<CallGate&>(gate)),
        kept_gate_(keep(std::move(gate))) {}

  std::string describe() const override { return description_; }
  std::string identity() const override { return identity_; }
  int64_t most_calls() const override { return most_calls_; }
  bool is_sequence() const override { return is_sequence_; }
  bool draws() const override { return draws_; }

  Result<void> apply(Run& run, Context& context) const override {
    const PythonCall entered;
    if (!entered) return Error::cancelled();
    const CallGate::Entered turn(gate_, most_calls_, description_);
    if (!turn) return Error::cancelled();
    const nb::gil_scoped_acquire held;
    const NoReturnInChild forking;
    ResultRows made(run.size, context.like());
    traits::for_each_row(run, context, [&](int32_t row) -> Result<void> {
      if (context.stopped()) return Error::cancelled();
      const ElementScope element(context);
      STOKER_TRY(Element result, guarded([&] { return call(run.take_element(row)); }));
      return made.set(row, std::move(result));
    });
    made.put_into(run);
    return {};
  }

 private:
  Element call(Element element) const {
    const nb::object result = (*callable_)(*arguments_of(std::move(element)));
    if (result.is_none())
      throw Error::invalid("the function returned None, expected an array or a structure of arrays");
    return element_from_python(as_structure(result), Memory::kCopy);
  }

  std::shared_ptr<nb::object> callable_;
  std::string description_;
  std::string identity_;
  const int most_calls_;
  const bool is_sequence_;
  const bool draws_;
  CallGate& gate_;
  const std::shared_ptr<nb::object> kept_gate_;
};

// One pass over the iterable that a generator function returns. The destructor closes
// the generator, so that its `finally` runs. An exception of the generator ends the pass.
// If `convert` rejects a value, only that value fails.
class Pass {
 public:
  Pass(std::shared_ptr<nb::object> callable, std::shared_ptr<nb::object> convert)
      : callable_(std::move(callable)), convert_(std::move(convert)) {}
  ~Pass() {
    if (!iterator_.is_valid()) return;
    const PythonCall entered;
    if (!entered) {
      iterator_.release();  // the process ends, and its objects are not freed
      return;
    }
    const nb::gil_scoped_acquire held;
    const nb::error_scope raised;  // an exception that the loader raised may be what drops it
    try {
      if (nb::hasattr(iterator_, "close")) iterator_.attr("close")();
    } catch (abi::__forced_unwind&) {
      PythonCall::stop();
    } catch (nb::python_error& thrown) {
      thrown.discard_as_unraisable("closing a generator");
    }
    iterator_.reset();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  bool has_ended() const { return ended_; }

  std::optional<Element> next() {
    if (ended_) return std::nullopt;
    ended_ = true;
    if (!iterator_.is_valid()) iterator_ = nb::iter((*callable_)());
    const nb::object value = nb::steal(PyIter_Next(iterator_.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
    if (!value.is_valid()) return std::nullopt;
    ended_ = false;
    return element_from_python((*convert_)(value), Memory::kCopy);
  }

 private:
  const std::shared_ptr<nb::object> callable_;
  const std::shared_ptr<nb::object> convert_;
  nb::object iterator_;  // created by the first next()
  bool ended_ = false;
};

thread_local ElementScope* current_call = nullptr;

// Applies a function with the random numbers of `context`: those of an element, or of an eager call.
Result<Element> applied(const Function& function, const Element& element, const Origin& origin, Context context) {
  Run run = Run::of(element, origin);
  run.freeze_if_shared();
  const Origins origins = run.origins;
  context.set_origins(&origins);
  STOKER_TRY(function.apply(run, context));
  if (const Failure* failure = run.failure_of(0)) return failure->error;
  STOKER_TRY(make_receivers_own(run));
  return run.element(0);
}

}  // namespace

ElementScope::ElementScope(const Context& context)
    : context_(context), seeds_(context.element_seed()), outer_(std::exchange(current_call, this)) {}
ElementScope::~ElementScope() { current_call = outer_; }
ElementScope* ElementScope::current() { return current_call; }

Result<Element> result_of(const Function& function, const Element& element) {
  const bool draws = function.program() && function.program()->random();
  try {
    if (ElementScope* call = ElementScope::current()) {
      const Context& context = call->context();
      return applied(function, element, context.origin(), context.for_call(draws ? call->take_op() : 0));
    }
    const EagerCall call = draws ? next_eager_call() : EagerCall{};
    return applied(function, element, Origin{.position = call.number}, Context(call.seed, 0, nullptr));
  } catch (...) {
    return error_of_exception();
  }
}

Function function_of(nb::object callable, std::string description, std::string identity, int most_calls,
                     bool is_sequence, bool draws, nb::object gate) {
  return Function(std::make_shared<const PythonFunction>(std::move(callable), std::move(description),
                                                         std::move(identity), most_calls, is_sequence, draws,
                                                         std::move(gate)));
}

std::function<NextElement()> generator_of(nb::object callable, nb::object convert, std::string identity) {
  auto begin = [callable = keep(std::move(callable)), convert = keep(std::move(convert))]() -> NextElement {
    return [pass = std::make_shared<Pass>(callable, convert)]() -> Result<std::optional<Element>> {
      const PythonCall entered;
      if (!entered) return Error::cancelled();
      const nb::gil_scoped_acquire held;
      const NoReturnInChild forking;
      Result<std::optional<Element>> next = guarded([&] { return pass->next(); });
      if (!next && pass->has_ended()) return std::move(next).error().set_last();
      return next;
    };
  };
  return IdentifiedGenerator{std::move(begin), std::move(identity)};
}

GraphFunction graph_function_of(nb::object callable, nb::object gate, std::function<Graph(nb::handle)> unwrap) {
  return GraphFunction([callable = keep(std::move(callable)), unwrap = std::move(unwrap),
                        &shared = nb::cast<CallGate&>(gate),
                        kept = keep(std::move(gate))](const Element& element) -> Result<Graph> {
    const PythonCall entered;
    if (!entered) return Error::cancelled();
    const CallGate::Entered turn(shared, 1, "a Python function that returns datasets");
    if (!turn) return Error::cancelled();
    const nb::gil_scoped_acquire held;
    const NoReturnInChild forking;
    return guarded([&] { return unwrap((*callable)(*arguments_of(element))); });
  });
}

}  // namespace stoker::python
