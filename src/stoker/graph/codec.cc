#include "stoker/graph/codec.h"

#include <climits>

#include "stoker/graph/array_json.h"

namespace stoker {
namespace {

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
    if (!value && from.as<double>()) return Error::invalid("expected an integer, got ", *from.as<double>());
    if (!value) return wrong_kind("an integer", from);
    if (!std::in_range<T>(*value))
      return Error::invalid("expected an integer of ", sizeof(T) * CHAR_BIT, " bits, got ", *value);
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

struct DTypeCodec {
  static Result<void> read(const Json& from, void* to) {
    STOKER_TRY(*static_cast<DType*>(to), dtype_in(from));
    return {};
  }
  static Json write(const void* from) { return Json(name_of(*static_cast<const DType*>(from))); }
};

// A codec that also reads {"element": path}.
template <typename Plain>
Codec make_codec(std::string type) {
  return {std::move(type),
          [](const Json& from, ReadContext& context, void* to) -> Result<void> {
            if (!is_component(from)) return Plain::read(from, to);
            STOKER_TRY(Json value, with_component(from, context));
            return Plain::read(value, to);
          },
          [](const void* from, WriteContext&) -> Result<Json> { return Plain::write(from); }};
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

struct PairCodec {
  static Result<void> read(const Json& from, ReadContext& context, void* to) {
    std::vector<int64_t> values;
    STOKER_TRY(codec_of<std::vector<int64_t>>().read(from, context, &values));
    if (values.size() != 2) return Error::invalid("expected two integers, got ", values.size());
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
const Codec& plain_codec<bool>() {
  static const Codec codec = make_codec<BoolCodec>("bool");
  return codec;
}
template <>
const Codec& plain_codec<int64_t>() {
  static const Codec codec = make_codec<IntegerCodec<int64_t>>("int64");
  return codec;
}
template <>
const Codec& plain_codec<int>() {
  static const Codec codec = make_codec<IntegerCodec<int>>("int32");
  return codec;
}
template <>
const Codec& plain_codec<double>() {
  static const Codec codec = make_codec<DoubleCodec>("float64");
  return codec;
}
template <>
const Codec& plain_codec<std::string>() {
  static const Codec codec = make_codec<StringCodec>("string");
  return codec;
}
template <>
const Codec& plain_codec<DType>() {
  static const Codec codec = make_codec<DTypeCodec>("dtype");
  return codec;
}
template <>
const Codec& plain_codec<Array>() {
  static const Codec codec{"array", &ArrayCodec::read, &ArrayCodec::write, &take_given<Array>};
  return codec;
}
template <>
const Codec& plain_codec<NumberPair>() {
  static const Codec codec{"two int64", &PairCodec::read, &PairCodec::write};
  return codec;
}

Result<void> read_value(const Codec& codec, const Json& from, ReadContext& context, void* to) {
  const Json* number = context.given.empty() ? nullptr : from.find("given");
  if (!number) return codec.read(from, context, to);
  const int64_t* at = number->as<int64_t>();
  if (!at || *at < 0 || *at >= static_cast<int64_t>(context.given.size()))
    return Error::invalid("expected the number of one of ", context.given.size(), " given objects, got ",
                          number->text());
  if (codec.take && codec.take(context.given[static_cast<size_t>(*at)], to)) return {};
  return Error::invalid("expected ", codec.type, ", got an object of another type");
}

}  // namespace stoker
