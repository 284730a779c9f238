#include "stoker/graph/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stoker {
namespace {

// Converts the events of the library.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(JsonVisitor& visitor, size_t max_depth) : visitor_(visitor), max_depth_(max_depth) {}

  std::string error;  // empty without one

  bool null() override { return visitor_.scalar(Json()); }
  bool boolean(bool value) override { return visitor_.scalar(value); }
  bool number_integer(number_integer_t value) override { return visitor_.scalar(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    return value > static_cast<uint64_t>(INT64_MAX) ? visitor_.scalar(static_cast<double>(value))
                                                    : visitor_.scalar(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return visitor_.scalar(value); }
  bool string(string_t& value) override { return visitor_.scalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override { return visitor_.key(name); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    const std::string text = problem.what();
    const size_t cut = text.find("parse error at ");
    error = cut == std::string::npos ? "not JSON at byte " + std::to_string(position)
                                     : "not JSON at " + text.substr(cut + 15);
    return false;
  }

 private:
  bool open(bool dict) {
    if (depth_ >= max_depth_) {
      error = "values are nested deeper than " + std::to_string(max_depth_) + " levels";
      return false;
    }
    ++depth_;
    return visitor_.open(dict);
  }
  bool close() {
    --depth_;
    return visitor_.close();
  }

  JsonVisitor& visitor_;
  const size_t max_depth_;
  size_t depth_ = 0;
};

// Builds the value. Keeps duplicate keys, which nlohmann::json would merge.
class Builder final : public JsonVisitor {
 public:
  Json root;

  bool scalar(Json value) override { return add(std::move(value)); }
  bool open(bool dict) override {
    open_.push_back(dict ? Json::dict() : Json::list());
    keys_.emplace_back();
    return true;
  }
  bool close() override {
    Json done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }
  bool key(std::string& name) override {
    keys_.back() = std::move(name);
    return true;
  }

 private:
  bool add(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return true;
    }
    Json& into = open_.back();
    if (into.as<Json::List>())
      into.push(std::move(value));
    else
      into.set(keys_.back(), std::move(value));
    return true;
  }

  std::vector<Json> open_;         // the containers around the current value, outermost first
  std::vector<std::string> keys_;  // for each of them, the key of the next value
};

// Non-finite numbers become text, because JSON has no notation for them.
nlohmann::ordered_json to_nlohmann(const Json& json) {
  return std::visit(
      [](const auto& v) -> nlohmann::ordered_json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Json::List>) {
          auto list = nlohmann::ordered_json::array();
          for (const Json& item : v) list.push_back(to_nlohmann(item));
          return list;
        } else if constexpr (std::is_same_v<T, Json::Dict>) {
          auto dict = nlohmann::ordered_json::object();
          for (const auto& [key, item] : v) dict[key] = to_nlohmann(item);
          return dict;
        } else if constexpr (std::is_same_v<T, double>) {
          if (std::isnan(v)) return "nan";
          if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
          return v;
        } else {
          return v;
        }
      },
      json.value);
}

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

const Json* Json::find(std::string_view key) const {
  const Dict* dict = as<Dict>();
  if (!dict) return nullptr;
  for (const auto& [name, item] : *dict)
    if (name == key) return &item;
  return nullptr;
}

// Not inline: GCC 12 would warn about uninitialized memory in variants.
void Json::set(std::string key, Json item) { std::get<Dict>(value).emplace_back(std::move(key), std::move(item)); }
void Json::push(Json item) { std::get<List>(value).push_back(std::move(item)); }

std::string Json::text(int indent) const {
  return to_nlohmann(*this).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string_view Json::describe_kind() const {
  constexpr std::string_view kinds[] = {"null", "a bool", "an integer", "a number", "a string", "a list", "an object"};
  return kinds[value.index()];
}

Result<Json> parse_json(std::string_view text, size_t max_depth) {
  Builder builder;
  STOKER_TRY(visit_json(text, builder, max_depth));
  return std::move(builder.root);
}

Result<void> visit_json(std::string_view text, JsonVisitor& visitor, size_t max_depth) {
  Events events(visitor, max_depth);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &events)) return {};
  if (events.error.empty()) return Error(Code::kCancelled, "the reading of JSON was ended");
  return Error::invalid(events.error);
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[(group >> (18 - 6 * j)) & 63u];
  }
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return Error::invalid("expected base64, got the character '", c, "'");
    group = group << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((group >> bits) & 0xffu);
  }
  return bytes;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80                   ? 0  // bytes that follow
                     : lead >= 0xc2 && lead < 0xe0 ? 1
                     : lead >= 0xe0 && lead < 0xf0 ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= text.size() + (more == 0 ? 1 : 0)) return false;
    for (int j = 1; j <= more; ++j) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<size_t>(j)]);
      if ((next & 0xc0u) != 0x80u) return false;
      const bool first = j == 1;  // rejects overlong forms, surrogates, and code points above U+10FFFF
      if (first && ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) || (lead == 0xf0 && next < 0x90) ||
                    (lead == 0xf4 && next > 0x8f)))
        return false;
    }
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

}  // namespace stoker
