#include "python/binding/params.h"

#include "stoker/core/error.h"

namespace stoker::python {
namespace {

Json json_of(nb::handle value, ReadContext& context, const Give& give) {
  if (value.is_none()) return Json();
  if (PyBool_Check(value.ptr())) return Json(nb::cast<bool>(value));
  if (PyLong_Check(value.ptr())) return Json(integer_of(value));
  if (PyFloat_Check(value.ptr())) return Json(nb::cast<double>(value));
  if (PyUnicode_Check(value.ptr())) {
    const nb::bytes text = nb::cast<nb::bytes>(value.attr("encode")("utf-8", "surrogateescape"));
    return Json(std::string(text.c_str(), text.size()));
  }
  if (PyBytes_Check(value.ptr())) {
    const nb::bytes text = nb::borrow<nb::bytes>(value);
    return Json(std::string(text.c_str(), text.size()));
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    Json list = Json::list();
    for (nb::handle item : nb::borrow<nb::sequence>(value)) list.push(json_of(item, context, give));
    return list;
  }
  if (PyDict_Check(value.ptr())) return params_of(nb::borrow<nb::dict>(value), context, give);
  const auto number = static_cast<int64_t>(context.given.size());
  if (!give(value, context))
    throw Error::invalid("expected a number, text, list, dict, function or dataset, got ",
                         nb::cast<std::string>(value.type().attr("__name__")));
  Json given = Json::dict();
  given.set("given", number);
  return given;
}

}  // namespace

int64_t integer_of(nb::handle value) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return number;
  throw Error::invalid("expected an integer of 64 bits, got ", nb::cast<std::string>(nb::str(value)));
}

Json params_of(const nb::dict& params, ReadContext& context, const Give& give) {
  Json json = Json::dict();
  for (auto [key, value] : params) {
    if (value.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    try {
      json.set(name, json_of(value, context, give));
    } catch (const Error& error) {
      throw Error(error.code(), name + ": " + error.message());
    }
  }
  return json;
}

}  // namespace stoker::python
