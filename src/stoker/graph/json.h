#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/core/result.h"

namespace stoker {

// A JSON value. A dict keeps the order of its keys and, as read, also a key
// that stands twice: the reader of parameters wants to name it.
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

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  // The value under a key of a dict; null when there is none.
  const Json* find(std::string_view key) const;
  // Adds a key to a dict; the value must be one.
  void set(std::string key, Json item);
  // Adds an item to a list; the value must be one.
  void push(Json item);

  bool operator==(const Json&) const = default;

  // One line; with `indent` spaces a level, many.
  std::string text(int indent = -1) const;
  // "a number", "a list": for messages.
  std::string_view kind_words() const;
};

// Errors say line and column. Values nested deeper than 512 are refused.
Result<Json> parse_json(std::string_view text, size_t deepest = 512);

// Bytes as text and back: for strings that are not UTF-8.
std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);
bool is_utf8(std::string_view text);

// The known word nearest to a mistyped one, if one is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace stoker
