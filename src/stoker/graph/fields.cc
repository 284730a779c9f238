#include "stoker/graph/fields.h"

#include <algorithm>

namespace stoker {
namespace {

// Adds a prefix to an error and keeps its place.
Error prefixed(const Error& error, const std::string& prefix) {
  Error longer = Error::of(error.code(), prefix, error.message());
  longer.at() = error.place();
  return longer;
}

// "'count': expected an integer, got a string", "'files', item 1: …" or "'map_func' is …"
Error about(std::string_view name, const Error& error) {
  const std::string& message = error.message();
  const char* joint = message.starts_with("item ") ? ", " : message.starts_with("is ") ? " " : ": ";
  return prefixed(error, "'" + std::string(name) + "'" + joint);
}

// Suggests the nearest parameter, or lists all of them if none is near.
std::string suggestion(std::string_view name, const std::vector<std::string_view>& known) {
  if (std::string near = did_you_mean(name, known); !near.empty()) return near;
  if (known.empty()) return "; it has no parameters";
  std::string all = "; its parameters are ";
  for (size_t i = 0; i < known.size(); ++i) {
    if (i > 0) all += i + 1 < known.size() ? ", " : " and ";
    all += known[i];
  }
  return all;
}

}  // namespace

void Fields::required(std::string_view name, int64_t& first, int64_t& second, std::string_view doc) {
  pairs_.push_back({&first, &second});
  fields_.push_back({name, doc, true, &codec_of<NumberPair>(), &pairs_.back()});
}

Result<void> read_fields(const Fields& fields, const Json& from, ReadContext& context, std::string_view owner,
                         std::initializer_list<std::string_view> reserved) {
  const Json::Dict* dict = from.as<Json::Dict>();
  if (!dict) return Error::invalid(owner, ": expected an object of parameters, got ", from.describe_kind());
  std::vector<std::string_view> known;
  for (const Fields::Field& field : fields.list()) known.push_back(field.name);
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : *dict) {
    if (std::ranges::find(seen, key) != seen.end())
      return Error::invalid(owner, ": parameter '", key, "' is present twice");
    seen.push_back(key);
    const auto field = std::ranges::find(fields.list(), std::string_view(key), &Fields::Field::name);
    if (field == fields.list().end()) {
      if (std::ranges::find(reserved, key) != reserved.end()) continue;
      return Error::invalid(owner, ": no parameter named '", key, "'", suggestion(key, known));
    }
    const Result<void> read = read_value(*field->codec, value, context, field->address);
    if (!read) return prefixed(about(key, read.error()), std::string(owner) + ": ");
  }
  for (const Fields::Field& field : fields.list())
    if (field.required && std::ranges::find(seen, field.name) == seen.end())
      return Error::invalid(owner, ": parameter '", field.name, "' is missing");
  return {};
}

Result<void> write_fields(const Fields& fields, Json& into, WriteContext& context) {
  for (const Fields::Field& field : fields.list()) {
    if (context.compares && field.is_data) continue;
    Result<Json> value = field.codec->write(field.address, context);
    if (!value) return about(field.name, value.error());
    if (!value->is_null()) into.set(std::string(field.name), *std::move(value));
  }
  return {};
}

}  // namespace stoker
