#include "python/binding/errors.h"

#include <cxxabi.h>

#include <atomic>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "stoker/runtime/task.h"

namespace stoker::python {
namespace {

nb::str decoded(const std::string& text, const char* otherwise) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), otherwise));
}
nb::object optional_text(const std::string& text) { return text.empty() ? nb::none() : nb::object(readable(text)); }
nb::object optional_number(int64_t number) { return number < 0 ? nb::none() : nb::object(nb::int_(number)); }

// Returns the code for an exception of a Python function. Errors of stoker.errors keep
// their code. StopIteration and OutOfRange of a function become InvalidArgument, because
// they must not end the iteration of the dataset.
Code code_of(nb::python_error& thrown) {
  if (!thrown.matches(PyExc_Exception)) return Code::kCancelled;  // SystemExit, KeyboardInterrupt
  const nb::object ours = nb::module_::import_("stoker.errors").attr("Error");
  if (PyObject_IsInstance(thrown.value().ptr(), ours.ptr()) == 1) {
    const auto name = nb::cast<std::string>(thrown.type().attr("__name__"));
    for (int code = 0; code <= static_cast<int>(Code::kDataLoss); ++code)
      if (name_of(static_cast<Code>(code)) == name)
        return static_cast<Code>(code) == Code::kOutOfRange ? Code::kInvalidArgument : static_cast<Code>(code);
  }
  if (thrown.matches(PyExc_NotImplementedError)) return Code::kUnimplemented;
  if (thrown.matches(PyExc_MemoryError)) return Code::kResourceExhausted;
  if (thrown.matches(PyExc_FileNotFoundError)) return Code::kNotFound;
  if (thrown.matches(PyExc_ValueError) || thrown.matches(PyExc_TypeError) || thrown.matches(PyExc_StopIteration))
    return Code::kInvalidArgument;
  return Code::kUnknown;
}

// The most exceptions that keep the frames of a user function alive. The memory of their
// local variables is not part of the budget. Other tracebacks are kept as text.
constexpr int kMostWithFrames = 4;
std::atomic<int> with_frames{0};

// The exception of a Python function, as the cause of an Error. Requires the GIL.
class Cause {
 public:
  // The last owner may be a thread without the GIL.
  static std::shared_ptr<Cause> make(nb::handle exception, bool has_frames) {
    return {new Cause(exception, has_frames), &release};
  }

  // Null if the iterator no longer exists.
  nb::object exception() const {
    if (!key_.is_valid()) return holder_;
    const nb::object raised = holder_();
    return raised.is_none() ? nb::object() : nb::borrow(PyDict_GetItemWithError(raised.ptr(), key_.ptr()));
  }

 private:
  Cause(nb::handle exception, bool has_frames) : has_frames_(has_frames) {
    with_frames += has_frames_;
    const std::shared_ptr<void> owner = RunningScope::owner();
    holder_ = owner ? *static_cast<nb::object*>(owner.get()) : nb::borrow(exception);
    if (!owner) return;  // the caller waits for the result, and no error stays in an engine
    static uint64_t number = 0;
    key_ = nb::int_(number++);
    const nb::object raised = holder_();
    if (!raised.is_none() && PyDict_SetItem(raised.ptr(), key_.ptr(), exception.ptr()) != 0) PyErr_Clear();
  }
  ~Cause() = default;

  static void release(Cause* cause) {
    with_frames -= cause->has_frames_;
    const PythonCall entered;
    if (!entered) return;  // the process ends, and its objects are not freed
    const nb::gil_scoped_acquire held;
    const nb::error_scope raised_before;
    PyObject* const last = cause->take().release().ptr();
    delete cause;
    try {
      Py_XDECREF(last);  // a __del__ of what the exception refers to may take a long time
    } catch (abi::__forced_unwind&) {
      PythonCall::stop();
    }
  }

  // Returns the exception and removes it from the iterator's dict.
  nb::object take() {
    if (!key_.is_valid()) return std::move(holder_);
    nb::object found = exception();
    const nb::object raised = holder_();
    if (found.is_valid() && !raised.is_none()) PyDict_DelItem(raised.ptr(), key_.ptr());
    return found;
  }

  nb::object holder_;  // the exception; with a key, a weak reference to the dict that contains it
  nb::object key_;
  const bool has_frames_;
};

nb::object exception_of(const Error& error) {
  return error.cause() ? static_cast<const Cause*>(error.cause().get())->exception() : nb::object();
}

}  // namespace

nb::object path_or_none(const std::string& path) {
  return path.empty() ? nb::none() : nb::object(decoded(path, "surrogateescape"));
}

nb::str readable(const std::string& text) { return decoded(text, "backslashreplace"); }

void raise(const Error& error, const std::string& stage) {
  const nb::object thrown = exception_of(error);
  if (error.ends_program() && thrown.is_valid()) {
    PyErr_SetObject(thrown.type().ptr(), thrown.ptr());
    throw nb::python_error();
  }
  const Error::Place& place = error.place();
  const nb::object type = nb::module_::import_("stoker.errors").attr(std::string(name_of(error.code())).c_str());
  nb::object made = type(readable(error.describe()));
  made.attr("stage") = optional_text(place.stage.empty() ? stage : place.stage);
  made.attr("source") = optional_text(place.source);
  made.attr("position") = optional_number(place.position);
  made.attr("path") = path_or_none(place.path);
  made.attr("offset") = optional_number(place.offset);
  made.attr("origin") = optional_text(place.origin);
  if (thrown.is_valid()) made.attr("__cause__") = thrown;
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

namespace {

constexpr int kMostChained = 8;  // exceptions that are causes or contexts of each other

// Frames refer to the frames that called them. If the function was called on a Python
// thread, these refer to the iterator, which refers to the exception: a cycle. Dropping
// the iterator would not stop it before the garbage collector runs. The traceback is then
// kept as text.
//
// `handled`: the exception that the caller of next() was handling. It belongs to the
// caller, and Python has made it the context of everything raised since.
void drop_tracebacks(nb::handle exception, nb::handle handled, int most) {
  if (exception.is_none() || exception.is(handled) || most == 0) return;
  exception.attr("__traceback__") = nb::none();
  if (exception.attr("__context__").is(handled)) exception.attr("__context__") = nb::none();
  drop_tracebacks(exception.attr("__cause__"), handled, most - 1);
  drop_tracebacks(exception.attr("__context__"), handled, most - 1);
}

nb::object handled_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_GetExcInfo(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value ? nb::steal(value) : nb::none();
}

void keep_traceback_as_text(nb::handle exception) {
  if (nb::hasattr(exception, "add_note")) {  // Python 3.11
    const nb::object lines = nb::module_::import_("traceback").attr("format_tb")(exception.attr("__traceback__"));
    exception.attr("add_note")(nb::str("in the function:\n") + nb::str("").attr("join")(lines));
  }
  drop_tracebacks(exception, handled_exception(), kMostChained);
}

// Returns the name of a class or the text of an exception. Both may run user code, which may fail.
std::string text_or(nb::handle value, const char* attribute, const char* otherwise) {
  try {
    const nb::object found = value.attr(attribute);
    const nb::str text(PyCallable_Check(found.ptr()) ? found() : found);
    const nb::object bytes = text.attr("encode")("utf-8", "backslashreplace");
    return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
  } catch (nb::python_error&) {
    return otherwise;
  } catch (const std::exception&) {
    return otherwise;
  }
}

}  // namespace

Error error_of(nb::python_error& thrown) {
  const bool keeps_frames = !PyEval_GetFrame() && with_frames < kMostWithFrames;
  try {
    if (!keeps_frames) keep_traceback_as_text(thrown.value());
  } catch (nb::python_error&) {  // an exception that rejects notes or attributes keeps its frames
  }
  const std::string name = text_or(thrown.type(), "__name__", "an exception");
  const std::string text = text_or(thrown.value(), "__str__", "(its text cannot be read)");
  Error error = Error::of(code_of(thrown), "a Python function raised ", name, text.empty() ? "" : ": ", text);
  error.set_cause(Cause::make(thrown.value(), keeps_frames));
  return error;
}

std::shared_ptr<nb::object> raised_in(nb::handle dict) {
  PyObject* const weak = PyWeakref_NewRef(dict.ptr(), nullptr);
  if (!weak) throw nb::python_error();
  return keep(nb::steal(weak));
}

}  // namespace stoker::python
