#include "stoker/graph/component.h"

#include <algorithm>

#include "stoker/core/element.h"
#include "stoker/graph/array_json.h"
#include "stoker/graph/codec.h"
#include "stoker/graph/json_values.h"

namespace stoker {
namespace {

Result<std::string> path_in(const Json& json) {
  const Json& path = *json.find("element");
  if (const std::string* text = path.as<std::string>()) return *text;
  if (const int64_t* number = path.as<int64_t>()) return std::to_string(*number);
  if (path.is_null()) return std::string();
  return wrong_kind("the path of a component", path);
}

// Keys may contain "/", so each step looks for the field whose key is followed by "/" or by the end of the path.
Result<Element> component_at(const Element& element, std::string_view path) {
  const Nest* nest = element.nest;
  size_t first_leaf = 0;
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto& fields = nest->fields();
    const auto leads_on = [&](const Nest::Field& field) {
      return rest.starts_with(field.first) && (rest.size() == field.first.size() || rest[field.first.size()] == '/');
    };
    const auto field = std::ranges::find_if(fields, leads_on);
    if (field == fields.end())
      return Error::invalid("the outer element ", element.nest->describe(), " has no component '", path, "'");
    rest.remove_prefix(std::min(rest.size(), field->first.size() + 1));
    first_leaf += nest->first_leaf(static_cast<size_t>(field - fields.begin()));
    nest = field->second;
  }
  Element part;
  part.nest = nest;
  for (size_t i = 0; i < nest->leaf_count(); ++i) part.leaves.push_back(element.leaves[first_leaf + i]);
  return part;
}

}  // namespace

bool is_component(const Json& json) {
  const Json::Dict* dict = json.as<Json::Dict>();
  return dict && dict->size() == 1 && (*dict)[0].first == "element";
}

Result<Element> component_of(const Json& json, const ReadContext& context) {
  STOKER_TRY(const std::string path, path_in(json));
  if (!context.element)
    return Error::invalid("the component '", path, "' of an outer element is used, but the graph is not nested");
  return component_at(*context.element, path);
}

Result<Array> array_component_of(const Json& json, const ReadContext& context) {
  STOKER_TRY(Element part, component_of(json, context));
  if (part.nest->kind() != Nest::Kind::kLeaf)
    return Error::invalid("expected one component of the outer element, got ", part.nest->describe());
  return std::move(part.leaves[0]);
}

Result<Json> with_component(const Json& json, const ReadContext& context) {
  if (!is_component(json)) return json;
  STOKER_TRY(Array array, array_component_of(json, context));
  return values_to_json(array);
}

}  // namespace stoker
