#include "python/binding/functions.h"

#include <cxxabi.h>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "python/binding/errors.h"
#include "stoker/runtime/delivery.h"

namespace stoker::python {
namespace {

// The arguments of a call: the fields of a tuple, else the element itself.
nb::tuple arguments_of(Element element) {
  const bool unpacks = element.nest->kind() == Nest::Kind::kTuple;
  nb::object value = to_python(std::move(element), Ownership::kArgument);
  return unpacks ? nb::cast<nb::tuple>(value) : nb::make_tuple(value);
}

// A list that a function returns is a tuple.
nb::object as_structure(nb::object result) { return PyList_Check(result.ptr()) ? nb::tuple(result) : result; }

// What Python threw, as the element's error.
template <typename Body>
auto guarded(Body&& body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (abi::__forced_unwind&) {  // before Python 3.14
    PythonCall::stop();
  } catch (nb::python_error& thrown) {
    return error_of(thrown);
  } catch (const Error& error) {
    return error;
  }
}

class PythonFunction final : public Function::Callable {
 public:
  PythonFunction(nb::object callable, std::string words, int most_calls, bool is_sequence, nb::object gate)
      : callable_(keep(std::move(callable))),
        words_(std::move(words)),
        most_calls_(most_calls),
        is_sequence_(is_sequence),
        gate_(nb::cast<CallGate&>(gate)),
        kept_gate_(keep(std::move(gate))) {}

  std::string words() const override { return words_; }
  int64_t most_calls() const override { return most_calls_; }
  bool is_sequence() const override { return is_sequence_; }

  Result<void> apply(Run& run, Context& context) const override {
    const PythonCall entered;
    if (!entered) return Error::cancelled();
    const CallGate::Entered turn(gate_, most_calls_, words_);
    if (!turn) return Error::cancelled();
    const nb::gil_scoped_acquire held;
    Rebuilt made(run.size, context.like());
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
    if (result.is_none()) throw Error::invalid("the function returned None");
    return element_from_python(as_structure(result), Memory::kCopy);
  }

  std::shared_ptr<nb::object> callable_;
  std::string words_;
  const int most_calls_;
  const bool is_sequence_;
  CallGate& gate_;
  const std::shared_ptr<nb::object> kept_gate_;
};

// One pass over what a generator function gives. Closed when dropped, so that
// its `finally` runs. Behind an error of its own there is nothing more; a value
// that `convert` refuses costs itself alone.
class Pass {
 public:
  Pass(std::shared_ptr<nb::object> callable, std::shared_ptr<nb::object> convert)
      : callable_(std::move(callable)), convert_(std::move(convert)) {}
  ~Pass() {
    if (!iterator_.is_valid()) return;
    const PythonCall entered;
    if (!entered) {
      iterator_.release();  // the process ends; so do its objects
      return;
    }
    const nb::gil_scoped_acquire held;
    const nb::error_scope raised;  // a loader may be dropped by the exception that it raised
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
  nb::object iterator_;  // made when first asked
  bool ended_ = false;
};

thread_local ElementScope* current_call = nullptr;

// Under random numbers of its own: an element's, or an eager call's.
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
    return applied(function, element, Origin{0, 0, call.number, nullptr, nullptr}, Context(call.seed, 0, nullptr));
  } catch (...) {
    return error_of_exception();
  }
}

Function function_of(nb::object callable, std::string words, int most_calls, bool is_sequence, nb::object gate) {
  return Function(std::make_shared<const PythonFunction>(std::move(callable), std::move(words), most_calls, is_sequence,
                                                         std::move(gate)));
}

std::function<NextElement()> generator_of(nb::object callable, nb::object convert) {
  return [callable = keep(std::move(callable)), convert = keep(std::move(convert))]() -> NextElement {
    return [pass = std::make_shared<Pass>(callable, convert)]() -> Result<std::optional<Element>> {
      const PythonCall entered;
      if (!entered) return Error::cancelled();
      const nb::gil_scoped_acquire held;
      Result<std::optional<Element>> next = guarded([&] { return pass->next(); });
      if (!next && pass->has_ended()) return std::move(next).error().set_last();
      return next;
    };
  };
}

GraphFunction graph_function_of(nb::object callable, std::function<Graph(nb::handle)> unwrap) {
  return GraphFunction([callable = keep(std::move(callable)), unwrap = std::move(unwrap),
                        gate = std::make_shared<CallGate>()](const Element& element) -> Result<Graph> {
    const PythonCall entered;
    if (!entered) return Error::cancelled();
    const CallGate::Entered turn(*gate, 1, "a Python function that returns datasets");
    if (!turn) return Error::cancelled();
    const nb::gil_scoped_acquire held;
    return guarded([&] { return unwrap((*callable)(*arguments_of(element))); });
  });
}

}  // namespace stoker::python
