#include "stoker/graph/json_values.h"

#include <cmath>

#include "stoker/graph/spelling.h"

namespace stoker {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(DType::kBytes); ++i) names.push_back(name_of(static_cast<DType>(i)));
  return names;
}

}  // namespace

Error wrong_kind(std::string_view expected, const Json& got) {
  return Error::invalid("expected ", expected, ", got ", got.describe_kind());
}

std::optional<int64_t> integer_in(const Json& json) {
  if (const int64_t* i = json.as<int64_t>()) return *i;
  const double* d = json.as<double>();
  if (d && *d == std::floor(*d) && *d >= -kTwo63 && *d < kTwo63) return static_cast<int64_t>(*d);
  return std::nullopt;
}

std::optional<double> number_in(const Json& json) {
  if (const int64_t* i = json.as<int64_t>()) return static_cast<double>(*i);
  if (const double* d = json.as<double>()) return *d;
  if (const std::string* text = json.as<std::string>()) return non_finite_in(*text);
  return std::nullopt;
}

std::optional<double> non_finite_in(std::string_view text) {
  if (text == "nan") return std::nan("");
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

Json text_to_json(Bytes text) {
  if (is_utf8(text)) return Json(text);
  Json json = Json::dict();
  json.set("base64", to_base64(text));
  return json;
}

Result<std::optional<std::string>> text_in(const Json& json) {
  if (const std::string* text = json.as<std::string>()) return std::optional(*text);
  const Json::Dict* dict = json.as<Json::Dict>();
  if (!dict || dict->size() != 1 || (*dict)[0].first != "base64") return std::optional<std::string>();
  const std::string* encoded = (*dict)[0].second.as<std::string>();
  if (!encoded) return wrong_kind("base64 text", (*dict)[0].second);
  STOKER_TRY(std::string bytes, from_base64(*encoded));
  return std::optional(std::move(bytes));
}

Result<DType> dtype_in(const Json& json) {
  const std::string* name = json.as<std::string>();
  if (!name) return wrong_kind("the name of a dtype", json);
  if (std::optional<DType> type = dtype_named(*name)) return *type;
  return Error::invalid("expected the name of a dtype, got '", *name, "'", did_you_mean(*name, dtype_names()));
}

Json dims_to_json(Dims dims) {
  Json list = Json::list();
  for (int64_t dim : dims) list.push(dim);
  return list;
}

Result<std::vector<int64_t>> dims_in(const Json& json) {
  const Json::List* list = json.as<Json::List>();
  if (!list) return wrong_kind("a shape", json);
  if (list->size() > kMaxDims)
    return Error::invalid("expected a shape of at most ", kMaxDims, " dims, got ", list->size());
  std::vector<int64_t> dims;
  for (const Json& item : *list) {
    const int64_t* dim = item.as<int64_t>();
    if (!dim || *dim < 0) return Error::invalid("expected a shape of integers of at least 0, got ", item.text());
    dims.push_back(*dim);
  }
  return dims;
}

}  // namespace stoker
