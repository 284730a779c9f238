#include "stoker/ops/example_records.h"

#include <algorithm>

#include "stoker/core/shown.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/rows.h"

namespace stoker {
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

constexpr int kMostNamed = 20;  // in a message

// An empty feature is like a missing one.
bool is_empty(const Result<Feature>& feature) { return feature && feature->kind == Feature::Kind::kMissing; }

Error about(const std::string& key, const Error& error) {
  return Error::of(error.code(), "the feature '", key, "': ", error.message());
}

Result<void> add_list(const WantedFeature& wanted, const Result<Feature>& feature, ValueLists& lists) {
  if (!feature) return feature.error();
  const Result<int64_t> size = count_values(*feature);
  if (!size) return about(wanted.key, size.error());
  lists.lists.push_back(*feature);
  lists.sizes.push_back(*size);
  lists.total += *size;
  return {};
}

Result<void> add_steps(const WantedFeature& wanted, Bytes message, ValueLists& lists) {
  StepWalk walk(message);
  const size_t before = lists.lists.size();
  while (true) {
    const Result<bool> more = walk.next();
    if (!more) return about(wanted.key, more.error());
    if (!*more) break;
    STOKER_TRY(add_list(wanted, feature_in(wanted, walk.message()), lists));
  }
  lists.steps.push_back(static_cast<int64_t>(lists.lists.size() - before));
  return {};
}

Result<void> add_record(const WantedFeature& wanted, Bytes message, ValueLists& lists) {
  if (wanted.steps) return add_steps(wanted, message, lists);
  lists.steps.push_back(1);
  return add_list(wanted, feature_in(wanted, message), lists);
}

template <typename T>
Result<Array> numbers_of(const ValueLists& lists, DType dtype, Dims dims) {
  STOKER_TRY(Array made, Array::make(dims, dtype));
  STOKER_TRY(read_lists(lists, 0, lists.lists.size(), made.mutable_values<T>()));
  return made;
}

}  // namespace

Result<Records> Records::of(std::span<const Column> inputs, int32_t row) {
  const Column& found = inputs[1];
  const int32_t at = found.size() == 1 ? 0 : row;
  const Array& table = found.dense() ? found.block() : found.rows()[static_cast<size_t>(at)];
  const Dims dims = found.dense() ? table.shape().subspan(1) : table.shape();
  if (table.type() != DType::kBytes || dims.empty() || dims.size() > 2)
    return Error::invalid("expected the result of example_features, got ", name_of(table.type()), shape_text(dims));
  Records records;
  records.serialized_ = &inputs[0];
  records.row_ = inputs[0].size() == 1 ? 0 : row;
  records.names_ = dims.back();
  records.single_ = dims.size() == 1;
  if (!records.single_) records.count_ = dims[0];
  records.messages_ = table.values<Bytes>().data();
  if (found.dense()) records.messages_ += at * records.count_ * records.names_;
  return records;
}

Result<void> Records::has_name(int64_t name) const {
  if (name >= 0 && name < names_) return {};
  return Error::invalid("at is ", name, ", expected the position of one of the ", names_, " keys of example_features");
}

Error Records::in_record(const Error& error, int64_t record) const {
  if (single_) return error;
  return Error::of(error.code(), error.message(), ", in record ", record, " of the vector");
}

std::string Records::names_in(int64_t record, ExamplePart part) const {
  const Array serialized = serialized_->row(row_);
  FeatureWalk walk(serialized.bytes_at(record), part);
  std::string names;
  for (int found = 0;;) {
    const Result<bool> more = walk.next();
    if (!more || !*more) break;
    if (part == ExamplePart::kFeatures && is_empty(walk.feature())) continue;
    if (++found > kMostNamed) return names + ", …";
    names += (names.empty() ? "'" : ", '") + shown(walk.name()) + "'";
  }
  return names.empty() ? "none" : names;
}

Result<Feature> feature_in(const WantedFeature& wanted, Bytes message) {
  Result<Feature> feature = feature_in(message);
  if (!feature) return about(wanted.key, feature.error());
  const std::optional<DType> type = type_of(feature->kind);
  if (type && *type != wanted.dtype)
    return Error::invalid("the feature '", wanted.key, "' is ", name_of(*type), ", expected ", name_of(wanted.dtype));
  return feature;
}

Result<ValueLists> lists_of(const Records& records, const WantedFeature& wanted) {
  STOKER_TRY(check_dtype(wanted.key, wanted.dtype));
  STOKER_TRY(records.has_name(wanted.at));
  ValueLists lists;
  for (int64_t i = 0; i < records.count(); ++i)
    if (Result<void> added = add_record(wanted, records.message(i, wanted.at), lists); !added)
      return records.in_record(added.error(), i);
  return lists;
}

Result<Array> values_of(const ValueLists& lists, DType dtype, Dims dims) {
  if (dtype == DType::kInt64) return numbers_of<int64_t>(lists, dtype, dims);
  if (dtype == DType::kFloat32) return numbers_of<float>(lists, dtype, dims);
  std::vector<Bytes> texts(static_cast<size_t>(lists.total));
  STOKER_TRY(read_lists(lists, 0, lists.lists.size(), std::span(texts)));
  return Array::of_strings(texts, dims);
}

Result<void> check_dtype(const std::string& key, DType dtype) {
  if (dtype == DType::kInt64 || dtype == DType::kFloat32 || dtype == DType::kBytes) return {};
  return Error::invalid("the feature '", key, "' has dtype ", name_of(dtype), ", expected int64, float32 or string");
}

Result<void> check_feature(const std::string& key, DType dtype, std::span<const LeafSpec> inputs) {
  STOKER_TRY(check_dtype(key, dtype));
  for (const LeafSpec& input : inputs)
    if (input.type && *input.type != DType::kBytes)
      return Error::invalid("expected serialized examples and the result of example_features for them, got ",
                            input.describe());
  return {};
}

namespace {

// Returns whether a default of one type is converted to another.
bool may_become(DType from, DType to) {
  if (from == to) return true;
  return to == DType::kInt64 ? is_integer(from) : to == DType::kFloat32 && (is_integer(from) || is_float(from));
}

}  // namespace

Result<int64_t> feature_size(const std::string& key, Dims shape) {
  if (const std::optional<int64_t> count = count_of(shape)) return *count;
  return Error::invalid("the feature '", key, "' has shape ", shape_text(shape),
                        ", expected a shape without unknown sizes");
}

Result<Array> typed_default(const std::string& key, const Array& value, DType dtype) {
  if (may_become(value.type(), dtype)) return converted(value, dtype);
  return Error::invalid("the default of the feature '", key, "' is ", name_of(value.type()), ", expected ",
                        name_of(dtype));
}

std::vector<int64_t> joined(Dims front, Dims back) {
  std::vector<int64_t> dims(front.begin(), front.end());
  dims.insert(dims.end(), back.begin(), back.end());
  return dims;
}

LeafSpec behind_records(const LeafSpec& serialized, DType dtype, Dims shape) {
  if (!serialized.shape) return {dtype, std::nullopt};
  return {dtype, joined(*serialized.shape, shape)};
}

std::vector<int64_t> dims_for(const Records& records, Dims shape) {
  return records.single() ? std::vector<int64_t>(shape.begin(), shape.end()) : with_rows(records.count(), shape);
}

}  // namespace stoker
