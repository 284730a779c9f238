#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/graph/component.h"
#include "stoker/graph/json.h"
#include "stoker/graph/json_values.h"

namespace stoker {

class Registry;
struct Node;

// The limit for graphs inside graphs (`flat_map` in `flat_map`), and for tuples and dicts inside each other.
constexpr int kDeepestNesting = 64;

// What reading a graph requires in addition to the text.
struct ReadContext {
  const Registry* registry = nullptr;
  std::string folder;                                        // contains the arrays that are too large for the text
  int depth = 0;                                             // of nested graphs
  std::map<std::string, std::shared_ptr<const Node>> nodes;  // by "id"
  const Element* element = nullptr;                          // of the outer graph, for {"element": path}
  // Objects that have no text, for {"given": n}. A binding passes arrays, datasets and functions in this form. Empty
  // when a file is read.
  std::vector<std::any> given;
};

// What writing a graph produces in addition to the text.
struct WriteContext {
  std::string folder;                  // for arrays that are too large for the text; empty: such arrays are an error
  std::string stem;                    // prefix of their file names
  int arrays = 0;                      // files written so far
  std::map<const Node*, int64_t> ids;  // of nodes that are used more than once
  std::map<const Node*, int> uses;
  // The text is only compared with another text. Large arrays are written as hashes, functions as their identities,
  // and data (Fields::required_data) is omitted.
  bool compares = false;
};

// Converts parameters of one type between JSON and memory. There is one codec per type.
struct Codec {
  std::string type;  // as in the reference: "int64", "list of string"
  Result<void> (*read)(const Json&, ReadContext&, void* to);
  Result<Json> (*write)(const void* from, WriteContext&);
  // Copies a given object into the parameter; returns false if the object has another type. Null if every value of
  // the type has a text.
  bool (*take)(const std::any& given, void* to) = nullptr;
};
template <typename T>
bool take_given(const std::any& given, void* to) {
  const T* value = std::any_cast<T>(&given);
  if (value) *static_cast<T*>(to) = *value;
  return value;
}

// Reads a value from its text, or copies the given object that {"given": n} refers to.
Result<void> read_value(const Codec& codec, const Json& from, ReadContext& context, void* to);

// The types of parameters are a closed set. A use of `codec_of` with another type does not link.
template <typename T>
const Codec& codec_of();

// Two members that are one parameter.
struct NumberPair {
  int64_t* first;
  int64_t* second;
};

template <typename T>
struct OptionalCodec {
  static Result<void> read(const Json& from, ReadContext& context, void* to) {
    auto& value = *static_cast<std::optional<T>*>(to);
    if (from.is_null()) {
      value.reset();
      return {};
    }
    return read_value(codec_of<T>(), from, context, &value.emplace());
  }
  static Result<Json> write(const void* from, WriteContext& context) {
    const auto& value = *static_cast<const std::optional<T>*>(from);
    if (!value) return Json();
    return codec_of<T>().write(&*value, context);
  }
  static bool take(const std::any& given, void* to) {
    const Codec& inner = codec_of<T>();
    return inner.take && inner.take(given, &static_cast<std::optional<T>*>(to)->emplace());
  }
};

// Also reads a single value as a list of one.
template <typename T>
struct VectorCodec {
  static Result<void> read(const Json& given, ReadContext& context, void* to) {
    auto& values = *static_cast<std::vector<T>*>(to);
    values.clear();
    Json component;
    const Json* from = &given;
    if constexpr (!std::is_same_v<T, Array> && !std::is_same_v<T, Element>) {
      STOKER_TRY(component, with_component(given, context));
      from = &component;
    }
    const Json::List* list = from->as<Json::List>();
    if (!list) {
      T value{};
      STOKER_TRY(read_value(codec_of<T>(), *from, context, &value));
      values.push_back(std::move(value));
      return {};
    }
    for (size_t i = 0; i < list->size(); ++i) {
      T value{};
      Result<void> read = read_value(codec_of<T>(), (*list)[i], context, &value);
      if (!read) return Error::of(read.error().code(), "item ", i, ": ", read.error().message());
      values.push_back(std::move(value));
    }
    return {};
  }
  static Result<Json> write(const void* from, WriteContext& context) {
    Json list = Json::list();
    for (const T& value : *static_cast<const std::vector<T>*>(from)) {
      STOKER_TRY(Json item, codec_of<T>().write(&value, context));
      list.push(std::move(item));
    }
    return list;
  }
};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

// The codec of a type that is neither optional nor a vector. A module that adds a type specializes it.
template <typename T>
const Codec& plain_codec();

template <typename T>
const Codec& codec_of() {
  if constexpr (IsOptional<T>::value) {
    using Inner = typename T::value_type;
    static const Codec codec{codec_of<Inner>().type + " or null", &OptionalCodec<Inner>::read,
                             &OptionalCodec<Inner>::write, &OptionalCodec<Inner>::take};
    return codec;
  } else if constexpr (IsVector<T>::value) {
    using Inner = typename T::value_type;
    static const Codec codec{"list of " + codec_of<Inner>().type, &VectorCodec<Inner>::read,
                             &VectorCodec<Inner>::write};
    return codec;
  } else {
    return plain_codec<T>();
  }
}

template <>
const Codec& plain_codec<bool>();
template <>
const Codec& plain_codec<int64_t>();
template <>
const Codec& plain_codec<int>();
template <>
const Codec& plain_codec<double>();
template <>
const Codec& plain_codec<std::string>();
template <>
const Codec& plain_codec<DType>();
template <>
const Codec& plain_codec<Array>();
template <>
const Codec& plain_codec<Element>();
template <>
const Codec& plain_codec<NumberPair>();

}  // namespace stoker
