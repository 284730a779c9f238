#include "stoker/ops/parse_example.h"

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/rows.h"

namespace stoker {

// The parameters, checked.
struct FixedLenFeature::Ready {
  int64_t count = 1;              // values
  std::optional<Array> standard;  // the default, of the right type and shape
};

namespace {

std::optional<DType> type_of(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::kInt64: return DType::kInt64;
    case Feature::Kind::kFloat32: return DType::kFloat32;
    case Feature::Kind::kBytes: return DType::kBytes;
    case Feature::Kind::kMissing: return std::nullopt;
  }
  return std::nullopt;
}

Result<Bytes> serialized_in(const Array& input) {
  if (input.type() == DType::kBytes && input.rank() == 0) return input.bytes();
  return Error::invalid("one serialized example was wanted, a string[], and this is ", name_of(input.type()),
                        words_of(input.dims()));
}

// Whether a default of one type may stand for another, as a plain number may.
bool may_become(DType from, DType to) {
  if (from == to) return true;
  return to == DType::kInt64 ? is_integer(from) : to == DType::kFloat32 && (is_integer(from) || is_float(from));
}

std::optional<int64_t> count_of(Dims shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

// The feature, if it is there with this type and count; nothing if the default
// has to stand for it.
Result<std::optional<Feature>> find(const FixedLenFeature& wanted, int64_t count, const Array& input) {
  STOKER_TRY(const Bytes serialized, serialized_in(input));
  STOKER_TRY(const Feature feature, find_feature(serialized, wanted.key));
  const std::optional<DType> type = type_of(feature.kind);
  if (!type && wanted.default_value) return std::optional<Feature>();
  if (!type)
    return Error::invalid("the feature '", wanted.key, "' (", name_of(wanted.dtype),
                          ") is required and not in the example");
  if (*type != wanted.dtype)
    return Error::invalid("the feature '", wanted.key, "' is ", name_of(*type), ", ", name_of(wanted.dtype),
                          " was wanted");
  STOKER_TRY(const int64_t found, count_values(feature));
  if (found != count)
    return Error::invalid("the feature '", wanted.key, "' has ", found, " values, the shape ", words_of(wanted.shape),
                          " wants ", count);
  return std::optional(feature);
}

template <typename T>
Result<void> fill(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Array& input,
                  std::span<T> out) {
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, static_cast<int64_t>(out.size()), input));
  if (feature) return read_values(*feature, out);
  std::ranges::copy(standard->values<T>(), out.begin());
  return {};
}

// Rows of numbers are alike: one block for all of them.
template <typename T>
Result<Column> numbers(const FixedLenFeature& wanted, int64_t count, const std::optional<Array>& standard,
                       const Column& input, OpRows& rows, Context& context) {
  STOKER_TRY(Array block, context.result_block(with_rows(rows.size, wanted.shape), wanted.dtype));
  std::span<T> left = block.mutable_values<T>();
  for (int32_t i = 0; i < rows.size; ++i) {
    const std::span<T> out = left.first(static_cast<size_t>(count));
    left = left.subspan(out.size());
    if (rows.any_failed() && rows.has_failed(i)) {
      std::ranges::fill(out, T());
      continue;
    }
    context.set_row(i);
    if (Result<void> done = fill(wanted, standard, input_row(input, i), out); !done) {
      std::ranges::fill(out, T());
      rows.fail(i, std::move(done).error());
    }
  }
  return Column(std::move(block));
}

// One string is a view of the record; several are copied into one table.
Result<Array> strings(const FixedLenFeature& wanted, int64_t count, const std::optional<Array>& standard,
                      const Array& input) {
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, count, input));
  if (!feature) return *standard;
  if (wanted.shape.empty()) {
    Bytes text;
    STOKER_TRY(read_values(*feature, std::span(&text, 1)));
    if (input.owner()) input.owner()->keep();
    return Array::view_bytes(text, input.owner());
  }
  std::vector<Bytes> texts(static_cast<size_t>(count));
  STOKER_TRY(read_values(*feature, std::span(texts)));
  return Array::of_strings(texts, wanted.shape);
}

}  // namespace

Result<FixedLenFeature::Ready> FixedLenFeature::ready() const {
  if (dtype != DType::kInt64 && dtype != DType::kFloat32 && dtype != DType::kBytes)
    return Error::invalid("the feature '", key, "' cannot be ", name_of(dtype), ", only int64, float32 or string");
  const std::optional<int64_t> count = count_of(shape);
  if (!count) return Error::invalid("the feature '", key, "' wants a shape that is known, not ", words_of(shape));
  if (!default_value) return Ready{*count, std::nullopt};
  if (!may_become(default_value->type(), dtype))
    return Error::invalid("the default of the feature '", key, "' is ", name_of(default_value->type()), ", ",
                          name_of(dtype), " was wanted");
  if (default_value->count() != *count)
    return Error::invalid("the default of the feature '", key, "' has ", default_value->count(), " values, the shape ",
                          words_of(shape), " wants ", *count);
  STOKER_TRY(const Array typed, converted(*default_value, dtype));
  const bool same = std::ranges::equal(typed.dims(), Dims(shape));
  return Ready{*count, same ? typed : typed.reshaped(shape)};
}

Result<LeafSpec> FixedLenFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(ready());
  const LeafSpec& input = inputs[0];
  if ((input.type && *input.type != DType::kBytes) || (input.shape && !input.shape->empty()))
    return Error::invalid("one serialized example was wanted, a string[], and this is ", input.words());
  return LeafSpec{dtype, shape};
}

Result<Column> FixedLenFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(const Ready checked, ready());
  if (dtype == DType::kInt64) return numbers<int64_t>(*this, checked.count, checked.standard, inputs[0], rows, context);
  if (dtype == DType::kFloat32) return numbers<float>(*this, checked.count, checked.standard, inputs[0], rows, context);
  return each_row(rows, context,
                  [&](int32_t i) { return strings(*this, checked.count, checked.standard, input_row(inputs[0], i)); });
}

Value parse_single_example(Value serialized, std::vector<FixedLenFeature> features) {
  std::vector<std::pair<std::string, Value>> fields;
  for (FixedLenFeature& feature : features) {
    std::string key = feature.key;
    fields.emplace_back(std::move(key), call(std::move(feature), {serialized}));
  }
  return dict(std::move(fields));
}

}  // namespace stoker
