#include "cli/element_json.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace stoker::cli {
namespace {

void append_text(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    switch (c) {
      case '"': to += "\\\""; break;
      case '\\': to += "\\\\"; break;
      case '\n': to += "\\n"; break;
      case '\r': to += "\\r"; break;
      case '\t': to += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
          fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned>(c));
        else
          to += c;
    }
  }
  to += '"';
}

template <typename T>
void append_float(std::string& to, T value) {
  if (std::isnan(value)) {
    to += "\"nan\"";
  } else if (std::isinf(value)) {
    to += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else {
    const size_t first = to.size();
    fmt::format_to(std::back_inserter(to), "{}", value);
    if (to.find_first_of(".e", first) == std::string::npos) to += ".0";  // so that a JSON parser reads a float
  }
}

template <typename T>
void append_item(std::string& to, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    to += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Bytes>) {
    if (is_utf8(value)) {
      append_text(to, value);
    } else {
      to += "{\"base64\":";
      append_text(to, to_base64(value));
      to += '}';
    }
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    append_float(to, value);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    append_float(to, static_cast<float>(value));
  } else {
    fmt::format_to(std::back_inserter(to), "{}", value);
  }
}

template <typename T>
void append_items(std::string& to, const Array& array, Dims dims, int64_t& next) {
  if (dims.empty()) {
    if constexpr (std::is_same_v<T, Bytes>)
      append_item(to, array.bytes_at(next++));
    else
      append_item(to, array.values<T>()[static_cast<size_t>(next++)]);
    return;
  }
  to += '[';
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (i > 0) to += ',';
    append_items<T>(to, array, dims.subspan(1), next);
  }
  to += ']';
}

void append_part(std::string& to, const Nest& nest, const Element& element, size_t first_leaf) {
  if (nest.kind() == Nest::Kind::kLeaf) {
    const Array& array = element.leaves[first_leaf];
    int64_t next = 0;
    visit_dtype(array.type(), [&](auto zero) { append_items<decltype(zero)>(to, array, array.shape(), next); });
    return;
  }
  const bool dict = nest.kind() == Nest::Kind::kDict;
  to += dict ? '{' : '[';
  for (size_t i = 0; i < nest.fields().size(); ++i) {
    if (i > 0) to += ',';
    if (dict) {
      append_text(to, nest.fields()[i].first);
      to += ':';
    }
    append_part(to, *nest.fields()[i].second, element, first_leaf + nest.first_leaf(i));
  }
  to += dict ? '}' : ']';
}

}  // namespace

void append_json(std::string& to, const Element& element) { append_part(to, *element.nest, element, 0); }

Json error_to_json(const Error& error) {
  const Error::Place& place = error.place();
  Json json = Json::dict();
  json.set("code", name_of(error.code()));
  json.set("message", error.message());
  auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json.set(key, text);
  };
  add("stage", place.stage);
  add("origin", place.origin);
  add("source", place.source);
  if (place.position >= 0) json.set("position", place.position);
  if (place.position >= 0) json.set("pass", place.pass);
  add("record", place.record);
  add("path", place.path);
  if (place.offset >= 0) json.set("offset", place.offset);
  add("written_at", place.written_at);
  return json;
}

}  // namespace stoker::cli
