#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/core/result.h"

namespace stoker {

// A JSON value. A dict keeps the order of its keys. A dict that was parsed also keeps duplicate keys, so that the code
// that reads parameters can report them.
struct Json {
  using List = std::vector<Json>;
  using Dict = std::vector<std::pair<std::string, Json>>;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, List, Dict> value = nullptr;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool b) : value(b) {}
  Json(int64_t i) : value(i) {}
  Json(int i) : value(int64_t{i}) {}
  Json(double d) : value(d) {}
  Json(const char* text) : value(std::string(text)) {}
  Json(std::string_view text) : value(std::string(text)) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(List list) : value(std::move(list)) {}
  Json(Dict dict) : value(std::move(dict)) {}

  static Json dict() { return Json(Dict{}); }
  static Json list() { return Json(List{}); }

  // Returns null if the value has another type.
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  // Returns the first value with this key, or null if there is none or this is not a dict. Linear in the number of
  // keys.
  const Json* find(std::string_view key) const;
  // Appends a key. This must be a dict.
  void set(std::string key, Json item);
  // Appends an item. This must be a list.
  void push(Json item);

  bool operator==(const Json&) const = default;

  // Formats the value on one line, or on several with `indent` spaces per level. Non-finite numbers are written as
  // "nan", "inf" or "-inf", and bytes that are not UTF-8 as U+FFFD.
  std::string text(int indent = -1) const;
  // "a number", "a list", …: for error messages.
  std::string_view describe_kind() const;
};

// Fails with InvalidArgument if the text is not JSON, with the line and the column, or if it is nested deeper than
// `max_depth` levels. An integer that does not fit int64 becomes a double.
Result<Json> parse_json(std::string_view text, size_t max_depth = 512);

// Receives the values of a JSON text in their order. A function that returns false ends the reading.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual bool scalar(Json value) = 0;  // null, a bool, a number or a string
  virtual bool open(bool dict) = 0;     // a dict or a list
  virtual bool close() = 0;
  virtual bool key(std::string& name) = 0;  // of the next value; may be moved
};

// Fails like parse_json(), and with Cancelled if the visitor ended the reading. Takes memory for the longest string
// only.
Result<void> visit_json(std::string_view text, JsonVisitor& visitor, size_t max_depth = 512);

// JSON cannot contain strings that are not UTF-8; such strings are written as base64.
bool is_utf8(std::string_view text);
std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

}  // namespace stoker
