#pragma once

#include <any>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/graph/json.h"

namespace stoker {

struct Element;
class Registry;
struct Node;

// Graphs inside graphs: `flat_map` in `flat_map` and so on.
constexpr int kDeepestNesting = 64;

// What reading a graph needs to know besides the text.
struct ReadContext {
  const Registry* registry = nullptr;
  std::string folder;                                        // where arrays too large for the text lie
  int depth = 0;                                             // of nested graphs
  std::map<std::string, std::shared_ptr<const Node>> nodes;  // by "id"
  const Element* element = nullptr;                          // of the outer graph, for {"element": path}
  // Objects that have no text, for {"given": n}: how a binding hands arrays,
  // data sets and functions over. Empty when a file is read.
  std::vector<std::any> given;
};

// What writing a graph leaves beside the text.
struct WriteContext {
  std::string folder;  // empty: large arrays are refused
  std::string stem;
  int arrays = 0;
  std::map<const Node*, int64_t> ids;  // of nodes used twice
  std::map<const Node*, int> uses;
};

// How one type of parameter is read, written and named. One object a type.
struct Codec {
  std::string type;  // "int64", "list of string"
  Result<void> (*read)(const Json&, ReadContext&, void* to);
  Result<Json> (*write)(const void* from, WriteContext&);
  // Puts a given object in place; false when it is of another type. Null: the
  // type has a text for every value.
  bool (*take)(const std::any& given, void* to) = nullptr;
};
template <typename T>
bool take_given(const std::any& given, void* to) {
  const T* value = std::any_cast<T>(&given);
  if (value) *static_cast<T*>(to) = *value;
  return value;
}
// From its text, or as one of the given objects.
Result<void> read_value(const Codec& codec, const Json& from, ReadContext& context, void* to);

// The closed set of types; `codec_of` for a type outside it does not link.
template <typename T>
const Codec& codec_of();

// Two members that are one parameter.
struct NumberPair {
  int64_t* first;
  int64_t* second;
};

// The parameters of a stage, an operation or a state, told by its `describe`.
class Fields {
 public:
  struct Field {
    std::string_view name;
    std::string_view doc;
    bool required;
    const Codec* codec;
    void* address;
  };

  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  template <typename T>
  void operator()(std::string_view name, T& value, std::string_view doc = {}) {
    fields_.push_back({name, doc, false, &codec_of<T>(), &value});
  }
  template <typename T>
  void required(std::string_view name, T& value, std::string_view doc = {}) {
    fields_.push_back({name, doc, true, &codec_of<T>(), &value});
  }
  // Two members under one name: "size": [height, width].
  void required(std::string_view name, int64_t& first, int64_t& second, std::string_view doc);

  const std::vector<Field>& list() const { return fields_; }

 private:
  std::vector<Field> fields_;
  std::deque<NumberPair> pairs_;  // which fields point to
};

// Reads parameters from an object, in the words of `owner` ("batch"). Unknown,
// missing, doubled and wrongly typed ones are told apart. `reserved` keys are
// somebody else's.
Result<void> read_fields(const Fields& fields, const Json& from, ReadContext& context, std::string_view owner,
                         std::initializer_list<std::string_view> reserved = {});
Result<void> write_fields(const Fields& fields, Json& into, WriteContext& context);

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

// "wants an integer, found a string"; the reader of fields says whose.
Error wrong_kind(std::string_view wanted, const Json& found);

// Whether the value is {"element": path}: a component of the outer element.
bool names_component(const Json& json);
// That component: the element itself where the path is empty.
Result<Element> component_of(const Json& named, const ReadContext& context);
// The same as JSON, for parameters that are no arrays; anything else unchanged.
Result<Json> with_component(const Json& json, const ReadContext& context);

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
    if (!list) {  // one stands for a list of one
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

template <typename T>
const Codec& plain_codec();  // defined for each type of the closed set

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

// An array as JSON and back: inline up to 4 KB, else a .npy beside the file.
// A number, bool or string, or a list of them, without dtype becomes int32
// (int64 where it does not fit), float32, bool or string.
Result<Json> array_to_json(const Array& array, WriteContext& context);
Result<Array> array_from_json(const Json& json, ReadContext& context, std::optional<DType> type = {});
// The values alone, as elements print: numbers, text, nested lists.
Json values_to_json(const Array& array);

}  // namespace stoker
