#include "stoker/graph/fields.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>

#include "stoker/core/element.h"
#include "stoker/core/rng.h"
#include "stoker/graph/npy.h"
#include "stoker/graph/op_of.h"

namespace stoker {
namespace {

constexpr int64_t kInlineBytes = 4096;
constexpr size_t kMostDims = 64;
constexpr int kNestedDims = 8;  // beyond, an array is a flat list and its shape
constexpr int kDeepestNest = 64;

// ---- numbers

constexpr double kTwo63 = 9223372036854775808.0;

// A whole number, also one written as 3.0 or 1e6.
std::optional<int64_t> integer_in(const Json& json) {
  if (const int64_t* i = json.as<int64_t>()) return *i;
  const double* d = json.as<double>();
  if (d && *d == std::floor(*d) && *d >= -kTwo63 && *d < kTwo63) return static_cast<int64_t>(*d);
  return std::nullopt;
}

std::optional<double> non_finite(std::string_view word) {
  if (word == "nan") return std::nan("");
  if (word == "inf") return HUGE_VAL;
  if (word == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

std::optional<double> number_in(const Json& json) {
  if (const int64_t* i = json.as<int64_t>()) return static_cast<double>(*i);
  if (const double* d = json.as<double>()) return *d;
  if (const std::string* word = json.as<std::string>()) return non_finite(*word);
  return std::nullopt;
}

Json text_to_json(Bytes text) {
  if (is_utf8(text)) return Json(text);
  Json json = Json::dict();
  json.set("base64", to_base64(text));
  return json;
}

// Text, or {"base64": …}; nothing when it is neither.
Result<std::optional<std::string>> text_in(const Json& json) {
  if (const std::string* text = json.as<std::string>()) return std::optional(*text);
  const Json::Dict* dict = json.as<Json::Dict>();
  if (!dict || dict->size() != 1 || (*dict)[0].first != "base64") return std::optional<std::string>();
  const std::string* coded = (*dict)[0].second.as<std::string>();
  if (!coded) return wrong_kind("base64 text", (*dict)[0].second);
  STOKER_TRY(std::string bytes, from_base64(*coded));
  return std::optional(std::move(bytes));
}

// ---- plain types

struct BoolCodec {
  static Result<void> read(const Json& from, void* to) {
    const bool* value = from.as<bool>();
    if (!value) return wrong_kind("true or false", from);
    *static_cast<bool*>(to) = *value;
    return {};
  }
  static Json write(const void* from) { return *static_cast<const bool*>(from); }
};

template <typename T>
struct IntegerCodec {
  static Result<void> read(const Json& from, void* to) {
    const std::optional<int64_t> value = integer_in(from);
    if (!value && from.as<double>()) return Error::invalid("wants an integer, found ", *from.as<double>());
    if (!value) return wrong_kind("an integer", from);
    if (!std::in_range<T>(*value))
      return Error::invalid("wants an integer of ", sizeof(T) * CHAR_BIT, " bits, found ", *value);
    *static_cast<T*>(to) = static_cast<T>(*value);
    return {};
  }
  static Json write(const void* from) { return int64_t{*static_cast<const T*>(from)}; }
};

struct DoubleCodec {
  static Result<void> read(const Json& from, void* to) {
    const std::optional<double> value = number_in(from);
    if (!value) return wrong_kind("a number", from);
    *static_cast<double*>(to) = *value;
    return {};
  }
  static Json write(const void* from) { return *static_cast<const double*>(from); }
};

struct StringCodec {
  static Result<void> read(const Json& from, void* to) {
    STOKER_TRY(std::optional<std::string> text, text_in(from));
    if (!text) return wrong_kind("a string", from);
    *static_cast<std::string*>(to) = *std::move(text);
    return {};
  }
  static Json write(const void* from) { return text_to_json(*static_cast<const std::string*>(from)); }
};

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(DType::kBytes); ++i) names.push_back(name_of(static_cast<DType>(i)));
  return names;
}

Result<DType> dtype_in(const Json& json) {
  const std::string* name = json.as<std::string>();
  if (!name) return wrong_kind("the name of a dtype", json);
  if (std::optional<DType> type = dtype_named(*name)) return *type;
  const std::string_view near = nearest(*name, dtype_names());
  return Error::invalid("wants the name of a dtype, found '", *name, "'",
                        near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
}

struct DTypeCodec {
  static Result<void> read(const Json& from, void* to) {
    STOKER_TRY(*static_cast<DType*>(to), dtype_in(from));
    return {};
  }
  static Json write(const void* from) { return Json(name_of(*static_cast<const DType*>(from))); }
};

// A codec of one value, for which {"element": path} may stand.
template <typename Plain>
Codec of_plain(std::string type) {
  return {std::move(type),
          [](const Json& from, ReadContext& context, void* to) -> Result<void> {
            if (!names_component(from)) return Plain::read(from, to);
            STOKER_TRY(Json value, with_component(from, context));
            return Plain::read(value, to);
          },
          [](const void* from, WriteContext&) -> Result<Json> { return Plain::write(from); }};
}

// ---- arrays

Json item_to_json(const Array& array, int64_t i) {
  return visit_dtype(array.type(), [&](auto zero) -> Json {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Bytes>) {
      return text_to_json(array.bytes_at(i));
    } else {
      const T value = array.values<T>()[static_cast<size_t>(i)];
      if constexpr (std::is_same_v<T, bool>) {
        return Json(value);
      } else if constexpr (std::is_integral_v<T>) {
        if (!std::in_range<int64_t>(value)) return Json(std::to_string(value));  // JSON would make it a double
        return Json(static_cast<int64_t>(value));
      } else {
        const double wide =
            static_cast<double>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
        if (std::isnan(wide)) return Json("nan");
        if (std::isinf(wide)) return Json(wide > 0 ? "inf" : "-inf");
        return Json(wide);
      }
    }
  });
}

Json nested_json(const Array& array, Dims rest, int64_t& next) {
  if (rest.empty()) return item_to_json(array, next++);
  Json list = Json::list();
  for (int64_t i = 0; i < rest[0]; ++i) list.push(nested_json(array, rest.subspan(1), next));
  return list;
}

// Nested lists taken apart: their dims, and the items from left to right.
struct Flat {
  std::vector<int64_t> dims;
  std::vector<const Json*> items;
  bool settled = false;  // the depth is known

  Result<void> add(const Json& json, size_t level) {
    const Json::List* list = json.as<Json::List>();
    if (!list) {
      if (settled && level != dims.size())
        return Error::invalid("wants lists of equal depth, found ", json.kind_words(), " among lists");
      settled = true;
      items.push_back(&json);
      return {};
    }
    const auto n = static_cast<int64_t>(list->size());
    if (level < dims.size() && dims[level] != n)
      return Error::invalid("wants lists of equal length, found one of ", n, " behind one of ", dims[level]);
    if (level == dims.size()) {
      if (settled) return Error::invalid("wants lists of equal depth, found a list among values");
      if (level == kMostDims) return Error::invalid("wants at most ", kMostDims, " nested lists");
      dims.resize(level + 1, n);
      settled = n == 0;
    }
    for (const Json& item : *list) STOKER_TRY(add(item, level + 1));
    return {};
  }
};

// The type of plain values: TensorFlow's for Python numbers.
Result<DType> type_of_items(const std::vector<const Json*>& items) {
  bool bools = false, numbers = false, floats = false, wide = false, texts = false, words = false;
  for (const Json* item : items) {
    if (item->as<bool>()) {
      bools = true;
    } else if (const int64_t* i = item->as<int64_t>()) {
      numbers = true;
      wide = wide || !std::in_range<int32_t>(*i);
    } else if (item->as<double>()) {
      numbers = floats = true;
    } else if (const std::string* text = item->as<std::string>(); text && non_finite(*text)) {
      words = true;  // a number among numbers, text among text
    } else if (text || item->as<Json::Dict>()) {
      texts = true;
    } else {
      return wrong_kind("a number, a bool or a string", *item);
    }
  }
  if (int{bools} + int{numbers} + int{texts} > 1 || (bools && words))
    return Error::invalid("wants values of one kind, found numbers, bools and strings together");
  if (bools) return DType::kBool;
  if (texts || (words && !numbers)) return DType::kBytes;
  if (floats || words || items.empty()) return DType::kFloat32;
  return wide ? DType::kInt64 : DType::kInt32;
}

template <typename T>
Result<T> item_in(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    if (const bool* b = json.as<bool>()) return *b;
    if (const std::optional<int64_t> i = integer_in(json); i && (*i == 0 || *i == 1)) return *i == 1;
    return wrong_kind("true or false", json);
  } else if constexpr (std::is_integral_v<T>) {
    if (const bool* b = json.as<bool>()) return static_cast<T>(*b);
    if (const std::optional<int64_t> i = integer_in(json)) {
      if (std::in_range<T>(*i)) return static_cast<T>(*i);
      return Error::invalid("wants values of ", name_of(dtype_of<T>), ", found ", *i);
    }
    if (const std::string* digits = json.as<std::string>()) {  // beyond 63 bits
      T value{};
      const auto [end, problem] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
      if (problem == std::errc() && end == digits->data() + digits->size()) return value;
    }
    if (const double* d = json.as<double>())
      return Error::invalid("wants values of ", name_of(dtype_of<T>), ", found ", *d);
    return wrong_kind("an integer", json);
  } else {
    const bool* b = json.as<bool>();
    const std::optional<double> value = b ? std::optional<double>(*b) : number_in(json);
    if (!value) return wrong_kind("a number", json);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>)
      return static_cast<T>(*value);
    else
      return T(static_cast<float>(*value));
  }
}

Result<Array> array_of_items(const std::vector<const Json*>& items, Dims dims, DType type) {
  if (type == DType::kBytes) {
    std::vector<std::string> texts;
    for (const Json* item : items) {
      STOKER_TRY(std::optional<std::string> text, text_in(*item));
      if (!text) return wrong_kind("a string", *item);
      texts.push_back(*std::move(text));
    }
    if (dims.empty()) return Array::of_bytes(texts[0]);
    const std::vector<Bytes> views(texts.begin(), texts.end());
    return Array::of_strings(views, dims);
  }
  STOKER_TRY(Array array, Array::make(dims, type));
  return visit_dtype(type, [&](auto zero) -> Result<Array> {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>) {
      auto to = array.mutable_values<T>();
      for (size_t i = 0; i < items.size(); ++i) {
        STOKER_TRY(T value, item_in<T>(*items[i]));
        to[i] = value;
      }
    }
    return std::move(array);
  });
}

Result<std::vector<int64_t>> dims_in(const Json& json) {
  const Json::List* list = json.as<Json::List>();
  if (!list) return wrong_kind("a shape", json);
  if (list->size() > kMostDims) return Error::invalid("wants at most ", kMostDims, " dims, found ", list->size());
  std::vector<int64_t> dims;
  for (const Json& item : *list) {
    const int64_t* dim = item.as<int64_t>();
    if (!dim || *dim < 0) return Error::invalid("wants a shape of counts, found ", item.text());
    dims.push_back(*dim);
  }
  return dims;
}

std::optional<int64_t> product(Dims dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

Json dims_to_json(Dims dims) {
  Json list = Json::list();
  for (int64_t dim : dims) list.push(dim);
  return list;
}

Result<Array> array_of_values(const Json& json, std::optional<DType> type, const Json* shape) {
  Flat flat;
  flat.dims.reserve(kMostDims);
  STOKER_TRY(flat.add(json, 0));
  if (shape) {
    STOKER_TRY(flat.dims, dims_in(*shape));
    if (product(flat.dims) != static_cast<int64_t>(flat.items.size()))
      return Error::invalid("wants as many values as the shape ", words_of(flat.dims), " has, found ",
                            flat.items.size());
  }
  if (!type) {
    STOKER_TRY(type, type_of_items(flat.items));
  }
  return array_of_items(flat.items, flat.dims, *type);
}

// ---- arrays in files

uint64_t hash_bytes(uint64_t hash, const void* data, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    hash = mix_bits(hash ^ word) + 0x9E3779B97F4A7C15u;
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes + i, size - i);
  return mix_bits(hash ^ word) + size;
}

// Type, shape and values in 16 digits.
std::string hash_of(const Array& array) {
  const std::string_view type = name_of(array.type());
  uint64_t hash = hash_bytes(1, type.data(), type.size());
  hash = hash_bytes(hash, array.dims().data(), array.dims().size_bytes());
  if (array.type() == DType::kBytes) {
    for (int64_t i = 0, n = array.count(); i < n; ++i)
      hash = hash_bytes(hash, array.bytes_at(i).data(), array.bytes_at(i).size());
  } else {
    hash = hash_bytes(hash, array.raw(), static_cast<size_t>(array.byte_size()));
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[(hash >> shift) & 15u];
  return text;
}

Result<void> write_array_files(const std::string& name, const Array& array, const std::string& folder) {
  const std::string path = folder + "/" + name;
  if (array.type() != DType::kBytes) return write_npy(path + ".npy", array);
  const int64_t n = array.count();
  STOKER_TRY(Array characters, Array::make({array.byte_size()}, DType::kUint8));
  STOKER_TRY(Array offsets, Array::make({n + 1}, DType::kInt64));
  auto* to = static_cast<char*>(characters.mutable_raw());
  auto* offset = static_cast<int64_t*>(offsets.mutable_raw());
  offset[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Bytes text = array.bytes_at(i);
    to = std::ranges::copy(text, to).out;
    offset[i + 1] = offset[i] + static_cast<int64_t>(text.size());
  }
  STOKER_TRY(write_npy(path + ".data.npy", characters));
  return write_npy(path + ".offsets.npy", offsets);
}

Result<Array> read_strings(const std::string& path, const Json* shape) {
  STOKER_TRY(Array data, read_npy(path + ".data.npy"));
  STOKER_TRY(Array offsets, read_npy(path + ".offsets.npy"));
  if (data.type() != DType::kUint8 || data.rank() != 1 || offsets.type() != DType::kInt64 || offsets.rank() != 1 ||
      offsets.count() == 0)
    return Error::corrupt(path, ".data.npy and .offsets.npy are not uint8 and int64 of one dim");
  const auto* characters = static_cast<const char*>(data.raw());
  const auto at = offsets.values<int64_t>();
  std::vector<Bytes> texts;
  for (size_t i = 0; i + 1 < at.size(); ++i) {
    if (at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > data.count())
      return Error::corrupt(path, ".offsets.npy has offsets ", at[i], " and ", at[i + 1], " into ", data.count(),
                            " bytes");
    texts.emplace_back(characters + at[i], static_cast<size_t>(at[i + 1] - at[i]));
  }
  std::vector<int64_t> dims{static_cast<int64_t>(texts.size())};
  if (shape) {
    STOKER_TRY(dims, dims_in(*shape));
  }
  if (product(dims) != static_cast<int64_t>(texts.size()))
    return Error::corrupt(path, ".offsets.npy has ", texts.size(), " strings and the graph asks for shape ",
                          words_of(dims));
  if (dims.empty()) return Array::of_bytes(texts[0]);
  return Array::of_strings(texts, dims);
}

// {"array": "NAME.npy", "dtype": …, "hash": …}
Result<Array> array_in_file(const Json& json, const ReadContext& context) {
  const std::string* file = json.find("array")->as<std::string>();
  if (!file) return wrong_kind("the name of a .npy file", *json.find("array"));
  if (file->empty() || file->find('/') != std::string::npos || file->find('\0') != std::string::npos)
    return Error::invalid("wants a file beside the graph, found '", *file, "'");
  std::string stem = *file;
  if (stem.ends_with(".npy")) stem.resize(stem.size() - 4);
  std::optional<DType> type;
  if (const Json* dtype = json.find("dtype")) {
    STOKER_TRY(type, dtype_in(*dtype));
  }
  const std::string path = (context.folder.empty() ? "." : context.folder) + "/" + stem;
  STOKER_TRY(Array array, type == DType::kBytes ? read_strings(path, json.find("shape")) : read_npy(path + ".npy"));
  if (type && array.type() != *type)
    return Error::corrupt(*file, " holds ", name_of(array.type()), " and the graph was saved with ", name_of(*type));
  if (const Json* hash = json.find("hash");
      hash && (!hash->as<std::string>() || *hash->as<std::string>() != hash_of(array)))
    return Error::corrupt(*file, " is not the array that the graph was saved with");
  return array;
}

struct ArrayCodec {
  static Result<void> read(const Json& from, ReadContext& context, void* to) {
    STOKER_TRY(*static_cast<Array*>(to), array_from_json(from, context));
    return {};
  }
  static Result<Json> write(const void* from, WriteContext& context) {
    return array_to_json(*static_cast<const Array*>(from), context);
  }
};

// ---- elements: bit by bit, for checkpoints

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

Result<const Nest*> nest_in(const Json& json, int depth) {
  if (depth > kDeepestNest) return Error::invalid("wants a structure at most ", kDeepestNest, " deep");
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
        return Error::invalid("wants keys that differ, found '", name, "' twice");
      STOKER_TRY(const Nest* part, nest_in(item, depth + 1));
      fields.emplace_back(name, part);
    }
    return Nest::dict(std::move(fields));
  }
  if (const std::string* word = json.as<std::string>(); !word || *word != "x") return wrong_kind("a structure", json);
  return Nest::leaf();
}

Json leaf_to_json(const Array& array) {
  Json json = Json::dict();
  json.set("dtype", name_of(array.type()));
  json.set("shape", dims_to_json(array.dims()));
  if (array.type() != DType::kBytes) {
    json.set("base64", to_base64({static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size())}));
    return json;
  }
  Json texts = Json::list();
  for (int64_t i = 0, n = array.count(); i < n; ++i) texts.push(to_base64(array.bytes_at(i)));
  json.set("base64", std::move(texts));
  return json;
}

Result<Array> leaf_in(const Json& json) {
  const Json *dtype = json.find("dtype"), *shape = json.find("shape"), *coded = json.find("base64");
  if (!dtype || !shape || !coded) return wrong_kind("dtype, shape and base64", json);
  STOKER_TRY(DType type, dtype_in(*dtype));
  STOKER_TRY(std::vector<int64_t> dims, dims_in(*shape));
  const std::optional<int64_t> count = product(dims);
  if (type == DType::kBytes) {
    const Json::List* list = coded->as<Json::List>();
    if (!list || count != static_cast<int64_t>(list->size()))
      return wrong_kind("as many strings as the shape has", *coded);
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
  if (!coded->as<std::string>()) return wrong_kind("base64 text", *coded);
  STOKER_TRY(std::string bytes, from_base64(*coded->as<std::string>()));
  if (!count || *count > INT64_MAX / 8 ||
      *count * static_cast<int64_t>(size_of(type)) != static_cast<int64_t>(bytes.size()))
    return Error::invalid("wants the bytes of ", name_of(type), words_of(dims), ", found ", bytes.size());
  if (type == DType::kBool)
    for (char& byte : bytes) byte = byte != 0;
  if (dims.empty())  // a number lies inside the array, as it does elsewhere
    return visit_dtype(type, [&](auto zero) -> Array {
      if constexpr (std::is_same_v<decltype(zero), Bytes>) {
        return Array();
      } else {
        std::memcpy(&zero, bytes.data(), sizeof(zero));
        return Array::of(zero);
      }
    });
  STOKER_TRY(Array array, Array::make(dims, type));
  std::ranges::copy(bytes, static_cast<char*>(array.mutable_raw()));
  return array;
}

// {"tuple": […]}, {"dict": {…}}, else one array, as a constant is written.
Result<Element> written_by_hand(const Json& from, ReadContext& context, int depth) {
  if (depth > kDeepestNesting) return Error::invalid("is nested deeper than ", kDeepestNesting);
  if (const Json* parts = from.find("tuple"); parts && parts->as<Json::List>()) {
    std::vector<Element> elements;
    for (const Json& part : *parts->as<Json::List>()) {
      STOKER_TRY(Element element, written_by_hand(part, context, depth + 1));
      elements.push_back(std::move(element));
    }
    return tuple_of(std::move(elements));
  }
  if (const Json* parts = from.find("dict"); parts && parts->as<Json::Dict>()) {
    std::vector<std::pair<std::string, Element>> fields;
    for (const auto& [key, part] : *parts->as<Json::Dict>()) {
      if (std::ranges::find(fields, key, &std::pair<std::string, Element>::first) != fields.end())
        return Error::invalid("has the key '", key, "' twice");
      STOKER_TRY(Element element, written_by_hand(part, context, depth + 1));
      fields.emplace_back(key, std::move(element));
    }
    return dict_of(std::move(fields));
  }
  STOKER_TRY(Array array, array_from_json(from, context));
  return Element(std::move(array));
}

struct ElementCodec {
  static Result<void> read(const Json& from, ReadContext& context, void* to) {
    auto& element = *static_cast<Element*>(to);
    if (names_component(from)) {
      STOKER_TRY(element, component_of(from, context));
      return {};
    }
    const Json *nest = from.find("nest"), *leaves = from.find("leaves");
    if (!nest && !leaves) {
      STOKER_TRY(element, written_by_hand(from, context, 0));
      return {};
    }
    if (!nest || !leaves || !leaves->as<Json::List>()) return wrong_kind("an element", from);
    Element made;
    STOKER_TRY(made.nest, nest_in(*nest, 0));
    for (const Json& leaf : *leaves->as<Json::List>()) {
      STOKER_TRY(Array array, leaf_in(leaf));
      made.leaves.push_back(std::move(array));
    }
    if (made.leaves.size() != made.nest->leaf_count())
      return Error::invalid("wants ", made.nest->leaf_count(), " components for ", made.nest->words(), ", found ",
                            made.leaves.size());
    element = std::move(made);
    return {};
  }
  static Result<Json> write(const void* from, WriteContext&) {
    const auto& element = *static_cast<const Element*>(from);
    Json leaves = Json::list();
    for (const Array& leaf : element.leaves) leaves.push(leaf_to_json(leaf));
    Json json = Json::dict();
    json.set("nest", nest_to_json(*element.nest));
    json.set("leaves", std::move(leaves));
    return json;
  }
};

// The part of an element that a path leads to.
Result<Element> part_at(const Element& element, std::string_view path) {
  const Nest* nest = element.nest;
  size_t first = 0;
  std::string_view rest = path;
  while (!rest.empty()) {
    size_t found = 0;
    const auto& fields = nest->fields();
    while (found < fields.size() && rest != fields[found].first &&
           !(rest.starts_with(fields[found].first) && rest[fields[found].first.size()] == '/'))
      ++found;
    if (found == fields.size())
      return Error::invalid("wants the component '", path, "' of the outer element, which is ", element.nest->words());
    rest.remove_prefix(std::min(rest.size(), fields[found].first.size() + 1));
    first += nest->first_leaf(found);
    nest = fields[found].second;
  }
  Element part;
  part.nest = nest;
  for (size_t i = 0; i < nest->leaf_count(); ++i) part.leaves.push_back(element.leaves[first + i]);
  return part;
}

Result<Array> array_component(const Json& named, const ReadContext& context) {
  STOKER_TRY(Element part, component_of(named, context));
  if (part.nest->kind() != Nest::Kind::kLeaf)
    return Error::invalid("wants one component of the outer element, found ", part.nest->words());
  return std::move(part.leaves[0]);
}

}  // namespace

Error wrong_kind(std::string_view wanted, const Json& found) {
  return Error::invalid("wants ", wanted, ", found ", found.kind_words());
}

bool names_component(const Json& json) {
  const Json::Dict* dict = json.as<Json::Dict>();
  return dict && dict->size() == 1 && (*dict)[0].first == "element";
}

Result<Element> component_of(const Json& named, const ReadContext& context) {
  const Json& path = *named.find("element");
  std::string way;
  if (const std::string* text = path.as<std::string>())
    way = *text;
  else if (const int64_t* number = path.as<int64_t>())
    way = std::to_string(*number);
  else if (!path.is_null())
    return wrong_kind("the path of a component", path);
  if (!context.element)
    return Error::invalid("wants the component '", way,
                          "' of an outer element, and there is none: this graph is not nested");
  return part_at(*context.element, way);
}

Result<Json> with_component(const Json& json, const ReadContext& context) {
  if (!names_component(json)) return json;
  STOKER_TRY(Array array, array_component(json, context));
  return values_to_json(array);
}

Json values_to_json(const Array& array) {
  int64_t next = 0;
  return nested_json(array, array.dims(), next);
}

Result<Json> array_to_json(const Array& array, WriteContext& context) {
  Json json = Json::dict();
  const bool texts = array.type() == DType::kBytes;
  const int64_t bytes = array.byte_size() + (texts ? 8 * array.count() : 0);
  if (bytes <= kInlineBytes) {
    const int64_t count = array.count();
    const bool flat = array.rank() > kNestedDims || (count == 0 && array.rank() > 1);  // lists cannot tell the shape
    json.set("const", values_to_json(flat ? array.reshaped(Dims(&count, 1)) : array));
    json.set("dtype", name_of(array.type()));
    if (flat) json.set("shape", dims_to_json(array.dims()));
    return json;
  }
  if (context.folder.empty())
    return Error::invalid("an array of ", bytes, " bytes is too large to stand in the text (", kInlineBytes,
                          " bytes); save the graph to a file");
  const std::string name = (context.stem.empty() ? "array" : context.stem) + "-" + std::to_string(++context.arrays);
  STOKER_TRY(write_array_files(name, array, context.folder));
  json.set("array", name + ".npy");
  json.set("dtype", name_of(array.type()));
  if (texts) json.set("shape", dims_to_json(array.dims()));
  json.set("hash", hash_of(array));
  return json;
}

Result<Array> array_from_json(const Json& json, ReadContext& context, std::optional<DType> type) {
  if (names_component(json)) return array_component(json, context);
  if (json.as<Json::Dict>() && json.find("array")) return array_in_file(json, context);
  const Json* given = json.as<Json::Dict>() ? json.find("const") : nullptr;
  if (!given) return array_of_values(json, type, nullptr);
  for (const auto& [key, item] : *json.as<Json::Dict>())
    if (key != "const" && key != "dtype" && key != "shape")
      return Error::invalid("wants const, dtype and shape, found '", key, "'");
  if (const Json* dtype = json.find("dtype")) {
    STOKER_TRY(DType said, dtype_in(*dtype));
    if (type && *type != said) return Error::invalid("wants ", name_of(*type), ", found ", name_of(said));
    type = said;
  }
  return array_of_values(*given, type, json.find("shape"));
}

// ---- the closed set

template <>
const Codec& plain_codec<bool>() {
  static const Codec codec = of_plain<BoolCodec>("bool");
  return codec;
}
template <>
const Codec& plain_codec<int64_t>() {
  static const Codec codec = of_plain<IntegerCodec<int64_t>>("int64");
  return codec;
}
template <>
const Codec& plain_codec<int>() {
  static const Codec codec = of_plain<IntegerCodec<int>>("int32");
  return codec;
}
template <>
const Codec& plain_codec<double>() {
  static const Codec codec = of_plain<DoubleCodec>("float64");
  return codec;
}
template <>
const Codec& plain_codec<std::string>() {
  static const Codec codec = of_plain<StringCodec>("string");
  return codec;
}
template <>
const Codec& plain_codec<DType>() {
  static const Codec codec = of_plain<DTypeCodec>("dtype");
  return codec;
}
template <>
const Codec& plain_codec<Array>() {
  static const Codec codec{"array", &ArrayCodec::read, &ArrayCodec::write, &take_given<Array>};
  return codec;
}
template <>
const Codec& plain_codec<Element>() {
  static const Codec codec{"element", &ElementCodec::read, &ElementCodec::write, &take_given<Element>};
  return codec;
}

namespace {

struct PairCodec {
  static Result<void> read(const Json& from, ReadContext& context, void* to) {
    std::vector<int64_t> values;
    STOKER_TRY(codec_of<std::vector<int64_t>>().read(from, context, &values));
    if (values.size() != 2) return Error::invalid("wants two integers, found ", values.size());
    const auto& pair = *static_cast<const NumberPair*>(to);
    *pair.first = values[0];
    *pair.second = values[1];
    return {};
  }
  static Result<Json> write(const void* from, WriteContext& context) {
    const auto& pair = *static_cast<const NumberPair*>(from);
    const std::vector<int64_t> values{*pair.first, *pair.second};
    return codec_of<std::vector<int64_t>>().write(&values, context);
  }
};

}  // namespace

template <>
const Codec& plain_codec<NumberPair>() {
  static const Codec codec{"two int64", &PairCodec::read, &PairCodec::write};
  return codec;
}

// ---- fields

void Fields::required(std::string_view name, int64_t& first, int64_t& second, std::string_view doc) {
  pairs_.push_back({&first, &second});
  fields_.push_back({name, doc, true, &codec_of<NumberPair>(), &pairs_.back()});
}

namespace {

// A codec's error with the field's name before it: "'count' wants an integer,
// found a string".
Error about(std::string_view name, const Error& error) {
  const std::string& told = error.message();
  const std::string_view joint = told.starts_with("wants ") || told.starts_with("is ") ? " "
                                 : told.starts_with("item ")                           ? ", "
                                                                                       : ": ";
  Error named = Error::of(error.code(), "'", name, "'", joint, told);
  named.at() = error.place();
  return named;
}

// The nearest of the known names, or all of them where none is near.
std::string what_was_meant(std::string_view name, const std::vector<std::string_view>& known) {
  if (const std::string_view near = nearest(name, known); !near.empty())
    return "did you mean '" + std::string(near) + "'?";
  if (known.empty()) return "it takes none";
  std::string all = "it takes ";
  for (size_t i = 0; i < known.size(); ++i) {
    if (i > 0) all += i + 1 < known.size() ? ", " : " and ";
    all += known[i];
  }
  return all;
}

}  // namespace

Result<void> read_value(const Codec& codec, const Json& from, ReadContext& context, void* to) {
  const Json* number = context.given.empty() ? nullptr : from.find("given");
  if (!number) return codec.read(from, context, to);
  const int64_t* at = number->as<int64_t>();
  if (!at || *at < 0 || *at >= static_cast<int64_t>(context.given.size()))
    return Error::invalid("wants one of ", context.given.size(), " given objects");
  if (codec.take && codec.take(context.given[static_cast<size_t>(*at)], to)) return {};
  return Error::invalid("wants ", codec.type, ", found something else");
}

Result<void> read_fields(const Fields& fields, const Json& from, ReadContext& context, std::string_view owner,
                         std::initializer_list<std::string_view> reserved) {
  const Json::Dict* dict = from.as<Json::Dict>();
  if (!dict) return Error::invalid(owner, ": parameters stand in an object, found ", from.kind_words());
  std::vector<std::string_view> known;
  for (const Fields::Field& field : fields.list()) known.push_back(field.name);
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : *dict) {
    if (std::ranges::find(seen, key) != seen.end())
      return Error::invalid(owner, ": parameter '", key, "' stands twice");
    seen.push_back(key);
    const auto at = std::ranges::find(fields.list(), std::string_view(key), &Fields::Field::name);
    if (at == fields.list().end()) {
      if (std::ranges::find(reserved, key) != reserved.end()) continue;
      return Error::invalid(owner, ": no parameter named '", key, "'; ", what_was_meant(key, known));
    }
    Result<void> read = read_value(*at->codec, value, context, at->address);
    if (read) continue;
    const Error error = about(key, read.error());
    Error owned = Error::of(error.code(), owner, ": ", error.message());
    owned.at() = error.place();
    return owned;
  }
  for (const Fields::Field& field : fields.list())
    if (field.required && std::ranges::find(seen, field.name) == seen.end())
      return Error::invalid(owner, ": parameter '", field.name, "' is missing");
  return {};
}

Result<void> write_fields(const Fields& fields, Json& into, WriteContext& context) {
  for (const Fields::Field& field : fields.list()) {
    Result<Json> value = field.codec->write(field.address, context);
    if (!value) return about(field.name, value.error());
    if (!value->is_null()) into.set(std::string(field.name), *std::move(value));
  }
  return {};
}

std::vector<ParamDoc> documented(const Fields& fields) {
  std::vector<ParamDoc> params;
  for (const Fields::Field& field : fields.list()) {
    WriteContext context;
    Result<Json> standard = field.required ? Result<Json>(Json()) : field.codec->write(field.address, context);
    params.push_back({std::string(field.name), field.codec->type, std::string(field.doc), field.required,
                      standard ? *std::move(standard) : Json()});
  }
  return params;
}

}  // namespace stoker
