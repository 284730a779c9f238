#include "stoker/graph/array_json.h"

#include <charconv>
#include <cmath>

#include "stoker/graph/array_files.h"
#include "stoker/graph/codec.h"
#include "stoker/graph/component.h"
#include "stoker/graph/json_values.h"

namespace stoker {
namespace {

constexpr int64_t kMaxInlineBytes = 4096;
constexpr int kMaxNestedDims = 8;  // arrays of a higher rank are written as a flat list and a shape

// ---- writing

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

Json nested_lists(const Array& array, Dims dims, int64_t& next) {
  if (dims.empty()) return item_to_json(array, next++);
  Json list = Json::list();
  for (int64_t i = 0; i < dims[0]; ++i) list.push(nested_lists(array, dims.subspan(1), next));
  return list;
}

// ---- reading

// Flattens nested lists into their dims and their items in row-major order.
struct FlatList {
  std::vector<int64_t> dims;
  std::vector<const Json*> items;
  bool rank_is_known = false;

  Result<void> add(const Json& json, size_t level) {
    const Json::List* list = json.as<Json::List>();
    if (!list) {
      if (rank_is_known && level != dims.size())
        return Error::invalid("expected lists of equal depth, got ", json.describe_kind(), " among lists");
      rank_is_known = true;
      items.push_back(&json);
      return {};
    }
    const auto n = static_cast<int64_t>(list->size());
    if (level < dims.size() && dims[level] != n)
      return Error::invalid("expected lists of equal length, got lengths ", dims[level], " and ", n);
    if (level == dims.size()) {
      if (rank_is_known) return Error::invalid("expected lists of equal depth, got a list among values");
      if (level == kMaxDims) return Error::invalid("expected at most ", kMaxDims, " nested lists");
      dims.resize(level + 1, n);
      rank_is_known = n == 0;
    }
    for (const Json& item : *list) STOKER_TRY(add(item, level + 1));
    return {};
  }
};

// The type of values without a dtype: that of Python numbers in TensorFlow.
Result<DType> type_of_items(const std::vector<const Json*>& items) {
  bool bools = false, numbers = false, floats = false, wide = false, strings = false;
  bool non_finite = false;  // "nan" and the like: a number among numbers, a string among strings
  for (const Json* item : items) {
    if (item->as<bool>()) {
      bools = true;
    } else if (const int64_t* i = item->as<int64_t>()) {
      numbers = true;
      wide = wide || !std::in_range<int32_t>(*i);
    } else if (item->as<double>()) {
      numbers = floats = true;
    } else if (const std::string* text = item->as<std::string>(); text && non_finite_in(*text)) {
      non_finite = true;
    } else if (text || item->as<Json::Dict>()) {
      strings = true;
    } else {
      return wrong_kind("a number, a bool or a string", *item);
    }
  }
  if (int{bools} + int{numbers} + int{strings} > 1 || (bools && non_finite))
    return Error::invalid("expected values of one kind, got a mix of numbers, bools and strings");
  if (bools) return DType::kBool;
  if (strings || (non_finite && !numbers)) return DType::kBytes;
  if (floats || non_finite || items.empty()) return DType::kFloat32;
  return wide ? DType::kInt64 : DType::kInt32;
}

Result<bool> bool_in(const Json& json) {
  if (const bool* b = json.as<bool>()) return *b;
  if (const std::optional<int64_t> i = integer_in(json); i && (*i == 0 || *i == 1)) return *i == 1;
  return wrong_kind("true or false", json);
}

template <typename T>
Result<T> integer_item(const Json& json) {
  if (const bool* b = json.as<bool>()) return static_cast<T>(*b);
  if (const std::optional<int64_t> i = integer_in(json)) {
    if (std::in_range<T>(*i)) return static_cast<T>(*i);
    return Error::invalid("expected values of ", name_of(dtype_of<T>), ", got ", *i);
  }
  if (const std::string* digits = json.as<std::string>()) {  // a uint64 that does not fit int64
    T value{};
    const auto [end, problem] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (problem == std::errc() && end == digits->data() + digits->size()) return value;
  }
  if (const double* d = json.as<double>())
    return Error::invalid("expected values of ", name_of(dtype_of<T>), ", got ", *d);
  return wrong_kind("an integer", json);
}

template <typename T>
Result<T> item_in(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    return bool_in(json);
  } else if constexpr (std::is_integral_v<T>) {
    return integer_item<T>(json);
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

Result<Array> array_of_strings(const std::vector<const Json*>& items, Dims dims) {
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

Result<Array> array_of_items(const std::vector<const Json*>& items, Dims dims, DType type) {
  if (type == DType::kBytes) return array_of_strings(items, dims);
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

Result<Array> array_of_values(const Json& values, std::optional<DType> type, const Json* shape) {
  FlatList flat;
  flat.dims.reserve(kMaxDims);
  STOKER_TRY(flat.add(values, 0));
  if (shape) {
    STOKER_TRY(flat.dims, dims_in(*shape));
    if (count_of(flat.dims) != static_cast<int64_t>(flat.items.size()))
      return Error::invalid("expected as many values as the shape ", shape_text(flat.dims), " has, got ",
                            flat.items.size());
  }
  if (!type) {
    STOKER_TRY(type, type_of_items(flat.items));
  }
  return array_of_items(flat.items, flat.dims, *type);
}

}  // namespace

Json values_to_json(const Array& array) {
  int64_t next = 0;
  return nested_lists(array, array.shape(), next);
}

Result<Json> array_to_json(const Array& array, WriteContext& context) {
  const int64_t bytes = array.byte_size() + (array.type() == DType::kBytes ? 8 * array.count() : 0);
  Json json = Json::dict();
  if (bytes <= kMaxInlineBytes) {
    const int64_t count = array.count();
    // Empty lists do not determine the shape.
    const bool flat = array.rank() > kMaxNestedDims || (count == 0 && array.rank() > 1);
    json.set("const", values_to_json(flat ? array.reshaped(Dims(&count, 1)) : array));
    json.set("dtype", name_of(array.type()));
    if (flat) json.set("shape", dims_to_json(array.shape()));
    return json;
  }
  if (context.compares) {
    json.set("dtype", name_of(array.type()));
    json.set("shape", dims_to_json(array.shape()));
    json.set("hash", fingerprint_of(array));
    return json;
  }
  if (context.folder.empty())
    return Error::invalid("an array of ", bytes, " bytes does not fit in the text of a graph, whose limit is ",
                          kMaxInlineBytes, " bytes; save the graph to a file");
  return array_to_files(array, context);
}

Result<Array> array_from_json(const Json& json, ReadContext& context, std::optional<DType> type) {
  if (is_component(json)) return array_component_of(json, context);
  if (json.find("array")) return array_from_files(json, context);
  const Json* values = json.find("const");
  if (!values) return array_of_values(json, type, nullptr);
  for (const auto& [key, item] : *json.as<Json::Dict>())
    if (key != "const" && key != "dtype" && key != "shape")
      return Error::invalid("expected the keys const, dtype and shape, got '", key, "'");
  if (const Json* dtype = json.find("dtype")) {
    STOKER_TRY(const DType written, dtype_in(*dtype));
    if (type && *type != written) return Error::invalid("expected ", name_of(*type), ", got ", name_of(written));
    type = written;
  }
  return array_of_values(*values, type, json.find("shape"));
}

}  // namespace stoker
