#include "python/binding/errors.h"

#include "python/binding/convert.h"

namespace stoker::python {
namespace {

nb::str decoded(const std::string& text, const char* otherwise) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), otherwise));
}
nb::object optional_text(const std::string& text) { return text.empty() ? nb::none() : nb::object(readable(text)); }
// As os.fsdecode() gives it, so that it can be opened.
nb::object optional_path(const std::string& path) {
  return path.empty() ? nb::none() : nb::object(decoded(path, "surrogateescape"));
}
nb::object optional_number(int64_t number) { return number < 0 ? nb::none() : nb::object(nb::int_(number)); }

// By PYTHON.md: an error of ours keeps its kind, the end of somebody's
// iteration is never the end of ours.
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

}  // namespace

nb::str readable(const std::string& text) { return decoded(text, "backslashreplace"); }

void raise(const Error& error, const std::string& stage) {
  if (error.ends_program()) {
    const nb::object& thrown = *static_cast<nb::object*>(error.cause().get());
    PyErr_SetObject(thrown.type().ptr(), thrown.ptr());
    throw nb::python_error();
  }
  const Error::Place& place = error.place();
  const nb::object type = nb::module_::import_("stoker.errors").attr(std::string(name_of(error.code())).c_str());
  nb::object made = type(readable(error.words()));
  made.attr("stage") = optional_text(place.stage.empty() ? stage : place.stage);
  made.attr("source") = optional_text(place.source);
  made.attr("position") = optional_number(place.position);
  made.attr("path") = optional_path(place.path);
  made.attr("offset") = optional_number(place.offset);
  made.attr("origin") = optional_text(place.origin);
  if (error.cause()) made.attr("__cause__") = *static_cast<nb::object*>(error.cause().get());
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

namespace {

constexpr int kMostChained = 8;  // exceptions that led to one another

// Frames refer to the frames that called them. Where the function was called on a
// thread of Python's own, these hold the iterator, which holds this error: a
// cycle that no garbage collector sees. The traceback is then kept as text.
//
// `handled`: what the caller of next() was handling before. It is the caller's own,
// and Python has made it the context of all that was raised since.
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

// What a class calls itself or an exception says: code of the user's, which may fail itself.
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
  try {
    if (PyEval_GetFrame()) keep_traceback_as_text(thrown.value());
  } catch (nb::python_error&) {  // an exception that refuses notes or attributes keeps its frames
  }
  const std::string name = text_or(thrown.type(), "__name__", "an exception");
  const std::string text = text_or(thrown.value(), "__str__", "(its text cannot be read)");
  Error error = Error::of(code_of(thrown), "a Python function raised ", name, text.empty() ? "" : ": ", text);
  error.set_cause(keep(nb::borrow(thrown.value())));
  return error;
}

}  // namespace stoker::python
