// Elements as parameters: in checkpoints bit by bit, and as constants that are written by hand.
#include "stoker/graph/element_json.h"

#include <algorithm>
#include <cstring>

#include "stoker/graph/array_json.h"
#include "stoker/graph/codec.h"
#include "stoker/graph/component.h"
#include "stoker/graph/json_values.h"

namespace stoker {

Json nest_to_json(const Nest& nest) {
  if (nest.kind() == Nest::Kind::kLeaf) return Json("x");
  if (nest.kind() == Nest::Kind::kTuple) {
    Json list = Json::list();
    for (const auto& [name, part] : nest.fields()) list.push(nest_to_json(*part));
    return list;
  }
  Json dict = Json::dict();
  for (const auto& [name, part] : nest.fields()) dict.set(name, nest_to_json(*part));
  return dict;
}

namespace {

// ---- the exact form: {"nest": structure, "leaves": [{"dtype": …, "shape": …, "base64": …}]}

Result<const Nest*> nest_in(const Json& json, int depth) {
  if (depth > kDeepestNesting)
    return Error::invalid("the structure is nested deeper than ", kDeepestNesting, " levels");
  if (const Json::List* list = json.as<Json::List>()) {
    std::vector<const Nest*> parts;
    for (const Json& item : *list) {
      STOKER_TRY(const Nest* part, nest_in(item, depth + 1));
      parts.push_back(part);
    }
    return Nest::tuple(std::move(parts));
  }
  if (const Json::Dict* dict = json.as<Json::Dict>()) {
    std::vector<Nest::Field> fields;
    for (const auto& [name, item] : *dict) {
      if (std::ranges::find(fields, name, &Nest::Field::first) != fields.end())
        return Error::invalid("the key '", name, "' is present twice");
      STOKER_TRY(const Nest* part, nest_in(item, depth + 1));
      fields.emplace_back(name, part);
    }
    return Nest::dict(std::move(fields));
  }
  if (const std::string* text = json.as<std::string>(); !text || *text != "x") return wrong_kind("a structure", json);
  return Nest::leaf();
}

Json leaf_to_json(const Array& array) {
  Json json = Json::dict();
  json.set("dtype", name_of(array.type()));
  json.set("shape", dims_to_json(array.shape()));
  if (array.type() != DType::kBytes) {
    json.set("base64", to_base64({static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size())}));
    return json;
  }
  Json texts = Json::list();
  for (int64_t i = 0, n = array.count(); i < n; ++i) texts.push(to_base64(array.bytes_at(i)));
  json.set("base64", std::move(texts));
  return json;
}

Result<Array> strings_in(const Json& encoded, Dims dims) {
  const Json::List* list = encoded.as<Json::List>();
  if (!list || count_of(dims) != static_cast<int64_t>(list->size()))
    return wrong_kind("as many strings as the shape has", encoded);
  std::vector<std::string> texts;
  for (const Json& item : *list) {
    if (!item.as<std::string>()) return wrong_kind("base64 text", item);
    STOKER_TRY(std::string text, from_base64(*item.as<std::string>()));
    texts.push_back(std::move(text));
  }
  if (dims.empty()) return Array::of_bytes(texts[0]);
  const std::vector<Bytes> views(texts.begin(), texts.end());
  return Array::of_strings(views, dims);
}

// A number of rank 0 is stored inside the array.
Array number_in_bytes(const std::string& bytes, DType type) {
  return visit_dtype(type, [&](auto zero) -> Array {
    if constexpr (std::is_same_v<decltype(zero), Bytes>) {
      return Array();
    } else {
      std::memcpy(&zero, bytes.data(), sizeof(zero));
      return Array::of(zero);
    }
  });
}

Result<Array> leaf_in(const Json& json) {
  const Json *dtype = json.find("dtype"), *shape = json.find("shape"), *encoded = json.find("base64");
  if (!dtype || !shape || !encoded) return wrong_kind("an object with dtype, shape and base64", json);
  STOKER_TRY(DType type, dtype_in(*dtype));
  STOKER_TRY(std::vector<int64_t> dims, dims_in(*shape));
  if (type == DType::kBytes) return strings_in(*encoded, dims);
  if (!encoded->as<std::string>()) return wrong_kind("base64 text", *encoded);
  STOKER_TRY(std::string bytes, from_base64(*encoded->as<std::string>()));
  const std::optional<int64_t> count = count_of(dims);
  if (!count || *count > INT64_MAX / 8 ||
      *count * static_cast<int64_t>(size_of(type)) != static_cast<int64_t>(bytes.size()))
    return Error::invalid("expected the bytes of ", name_of(type), shape_text(dims), ", got ", bytes.size(), " bytes");
  if (type == DType::kBool)
    for (char& byte : bytes) byte = byte != 0;
  if (dims.empty()) return number_in_bytes(bytes, type);
  STOKER_TRY(Array array, Array::make(dims, type));
  std::ranges::copy(bytes, static_cast<char*>(array.mutable_raw()));
  return array;
}

Result<Element> exact_element_in(const Json& nest, const Json& leaves) {
  Element element;
  STOKER_TRY(element.nest, nest_in(nest, 0));
  for (const Json& leaf : *leaves.as<Json::List>()) {
    STOKER_TRY(Array array, leaf_in(leaf));
    element.leaves.push_back(std::move(array));
  }
  if (element.leaves.size() != element.nest->leaf_count())
    return Error::invalid("expected ", element.nest->leaf_count(), " components for ", element.nest->describe(),
                          ", got ", element.leaves.size());
  return element;
}

// ---- the form for people: {"tuple": […]}, {"dict": {…}}, or one array as a constant is written

Result<Element> handwritten_element_in(const Json& from, ReadContext& context, int depth) {
  if (depth > kDeepestNesting) return Error::invalid("the element is nested deeper than ", kDeepestNesting, " levels");
  if (const Json* parts = from.find("tuple"); parts && parts->as<Json::List>()) {
    std::vector<Element> elements;
    for (const Json& part : *parts->as<Json::List>()) {
      STOKER_TRY(Element element, handwritten_element_in(part, context, depth + 1));
      elements.push_back(std::move(element));
    }
    return tuple_of(std::move(elements));
  }
  if (const Json* parts = from.find("dict"); parts && parts->as<Json::Dict>()) {
    std::vector<std::pair<std::string, Element>> fields;
    for (const auto& [key, part] : *parts->as<Json::Dict>()) {
      if (std::ranges::find(fields, key, &std::pair<std::string, Element>::first) != fields.end())
        return Error::invalid("the key '", key, "' is present twice");
      STOKER_TRY(Element element, handwritten_element_in(part, context, depth + 1));
      fields.emplace_back(key, std::move(element));
    }
    return dict_of(std::move(fields));
  }
  STOKER_TRY(Array array, array_from_json(from, context));
  return Element(std::move(array));
}

Result<Element> element_from_json(const Json& from, ReadContext& context) {
  if (is_component(from)) return component_of(from, context);
  const Json *nest = from.find("nest"), *leaves = from.find("leaves");
  if (!nest && !leaves) return handwritten_element_in(from, context, 0);
  if (!nest || !leaves || !leaves->as<Json::List>()) return wrong_kind("an element", from);
  return exact_element_in(*nest, *leaves);
}

Json element_to_json(const Element& element) {
  Json leaves = Json::list();
  for (const Array& leaf : element.leaves) leaves.push(leaf_to_json(leaf));
  Json json = Json::dict();
  json.set("nest", nest_to_json(*element.nest));
  json.set("leaves", std::move(leaves));
  return json;
}

}  // namespace

Result<const Nest*> nest_from_json(const Json& json) { return nest_in(json, 0); }

Json type_to_json(const ElementType& type) {
  Json dtypes = Json::list();
  for (const DType dtype : type.types) dtypes.push(name_of(dtype));
  Json json = Json::dict();
  json.set("nest", nest_to_json(*type.nest));
  json.set("dtypes", std::move(dtypes));
  return json;
}

Result<ElementType> type_from_json(const Json& json) {
  const Json *nest = json.find("nest"), *dtypes = json.find("dtypes");
  if (!nest || !dtypes || !dtypes->as<Json::List>()) return wrong_kind("an object with nest and dtypes", json);
  ElementType type;
  STOKER_TRY(type.nest, nest_from_json(*nest));
  for (const Json& dtype : *dtypes->as<Json::List>()) {
    STOKER_TRY(const DType one, dtype_in(dtype));
    type.types.push_back(one);
  }
  if (type.types.size() != type.nest->leaf_count())
    return Error::invalid("expected ", type.nest->leaf_count(), " dtypes for ", type.nest->describe(), ", got ",
                          type.types.size());
  return type;
}

template <>
const Codec& plain_codec<Element>() {
  static const Codec codec{"element",
                           [](const Json& from, ReadContext& context, void* to) -> Result<void> {
                             STOKER_TRY(*static_cast<Element*>(to), element_from_json(from, context));
                             return {};
                           },
                           [](const void* from, WriteContext&) -> Result<Json> {
                             return element_to_json(*static_cast<const Element*>(from));
                           },
                           &take_given<Element>};
  return codec;
}

}  // namespace stoker
