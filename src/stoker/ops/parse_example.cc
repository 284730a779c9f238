#include "stoker/ops/parse_example.h"

#include <algorithm>
#include <memory>

#include "stoker/codecs/example.h"
#include "stoker/core/recycled.h"
#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/example_records.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

Error no_records(const std::string& found) {
  return Error::invalid("expected serialized examples, string[] or string[?], got ", found);
}

}  // namespace

// ---- example_features

Result<LeafSpec> ExampleFeatures::spec(std::span<const LeafSpec> inputs) const {
  const LeafSpec& input = inputs[0];
  if ((input.type && *input.type != DType::kBytes) || (input.shape && input.shape->size() > 1))
    return no_records(input.describe());
  const auto n = static_cast<int64_t>(keys.size());
  return behind_records(input, DType::kBytes, Dims(&n, 1));
}

namespace {

Result<void> find_in(const FeatureNames& names, ExamplePart part, const Array& records, Bytes* found) {
  if (records.type() != DType::kBytes || records.rank() > 1)
    return no_records(std::string(name_of(records.type())) + shape_text(records.shape()));
  const bool single = records.rank() == 0;
  for (int64_t i = 0; i < (single ? 1 : records.dim(0)); ++i, found += names.size()) {
    Result<void> done = names.find(records.bytes_at(i), part, std::span(found, names.size()));
    if (!done && single) return done;
    if (!done) return Error::of(done.error().code(), done.error().message(), ", in record ", i, " of the vector");
  }
  return {};
}

bool all_single(const Column& column) {
  if (column.dense()) return column.block().rank() == 1;
  return std::ranges::all_of(column.rows(), [](const Array& row) { return row.rank() == 0; });
}

// Returns row i. If rows are separate arrays, this is a reference, which saves counting its owner; otherwise the row is
// created in `kept`.
const Array& row_of(const Column& column, int32_t i, Array& kept) {
  if (!column.dense() && column.size() > 1) return column.rows()[static_cast<size_t>(i)];
  return kept = input_row(column, i);
}

// Returns the records if each row is one record and all are in one table; otherwise null.
const Bytes* table_of(const Column& column, int64_t rows) {
  if (!column.dense() || column.size() != rows || column.block().rank() != 1) return nullptr;
  return column.block().type() == DType::kBytes ? column.block().values<Bytes>().data() : nullptr;
}

// Returns the buffer that owns the characters of these records, with one more reference.
Buffer* keeper_of(const Array& records) {
  Buffer* owner = records.owner();
  if (owner) (owner = owner->characters())->keep();
  return owner;
}

// Of records in several files.
class RecordsBacking final : public Backing {
 public:
  explicit RecordsBacking(const Column& records) : records_(records) {
    for (const Array& row : records.rows())
      if (const Backing* file = row.backing(); file && std::ranges::find(files_, file) == files_.end())
        files_.push_back(file);
  }
  bool intact() const override { return std::ranges::all_of(files_, &Backing::intact); }

 private:
  const Column records_;  // keeps the files
  std::vector<const Backing*> files_;
};

Buffer* keeper_of(const Column& records) {
  if (records.dense()) return keeper_of(records.block());
  const auto same = [&](const Array& row) { return row.owner() == records.rows()[0].owner(); };
  if (std::ranges::all_of(records.rows(), same)) return keeper_of(records.rows()[0]);
  if (!Buffer::any_backed()) return Buffer::wrap(nullptr, 0, [records] {});
  auto all = std::make_shared<const RecordsBacking>(records);
  return Buffer::wrap(nullptr, 0, [all] {}, all.get());
}

// Returns a table for views of records. It keeps the records alive, because the result of a map may outlive them.
Array table_for(Dims dims, Buffer* keeper) {
  const auto count = static_cast<size_t>(*count_of(dims));
  Buffer* table = Buffer::make_table(count * sizeof(Bytes), keeper);
  std::uninitialized_fill_n(reinterpret_cast<Bytes*>(table->data()), count, Bytes());
  return Array::over(table->data(), dims, DType::kBytes, table);
}

Bytes* to_bytes(void* raw) { return static_cast<Bytes*>(raw); }

}  // namespace

Result<Column> ExampleFeatures::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  const FeatureNames names(keys);
  const ExamplePart part = lists ? ExamplePart::kLists : ExamplePart::kFeatures;
  const auto n = static_cast<int64_t>(keys.size());
  if (!all_single(inputs[0]))
    return each_row(rows, context, [&](int32_t i) -> Result<Array> {
      const Array records = input_row(inputs[0], i);
      if (records.rank() > 1) return no_records(std::string(name_of(records.type())) + shape_text(records.shape()));
      Array found = table_for(joined(records.shape(), Dims(&n, 1)), keeper_of(records));
      STOKER_TRY(find_in(names, part, records, to_bytes(found.mutable_raw())));
      return found;
    });
  const int64_t dims[] = {rows.size, n};
  Array block = table_for(dims, keeper_of(inputs[0]));
  Bytes* found = to_bytes(block.mutable_raw());
  const Bytes* table = table_of(inputs[0], rows.size);
  Array kept;
  for (int32_t i = 0; i < rows.size; ++i, found += n) {
    if (rows.any_failed() && rows.has_failed(i)) continue;
    context.set_row(i);
    Result<void> done = table ? names.find(table[i], part, std::span(found, keys.size()))
                              : find_in(names, part, row_of(inputs[0], i, kept), found);
    if (!done) rows.fail(i, std::move(done).error());
  }
  return Column(std::move(block));
}

// ---- fixed_len_feature

// The checked parameters.
struct FixedLenFeature::Ready {
  int64_t count = 1;              // number of values
  std::optional<Array> standard;  // the default, with the type and shape of the feature
};

Result<FixedLenFeature::Ready> FixedLenFeature::ready() const {
  STOKER_TRY(check_dtype(key, dtype));
  STOKER_TRY(const int64_t count, feature_size(key, shape));
  if (!default_value) return Ready{count, std::nullopt};
  if (default_value->count() != count)
    return Error::invalid("the default of the feature '", key, "' has ", default_value->count(), " values, expected ",
                          count, " for shape ", shape_text(shape));
  if (count == 0) return Ready{count, std::nullopt};  // as in TensorFlow, an empty default is no default
  STOKER_TRY(const Array typed, typed_default(key, *default_value, dtype));
  const bool same = std::ranges::equal(typed.shape(), Dims(shape));
  return Ready{count, same ? typed : typed.reshaped(shape)};
}

Result<LeafSpec> FixedLenFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, dtype, inputs));
  STOKER_TRY(ready());
  return behind_records(inputs[0], dtype, shape);
}

namespace {

// Returns the feature of one record, or nothing if the default replaces it. Returns an error if the type differs, or if
// the feature is missing and there is no default.
Result<std::optional<Feature>> find(const FixedLenFeature& wanted, const std::optional<Array>& standard,
                                    const Records& records, int64_t record) {
  STOKER_TRY(const Feature feature,
             feature_in({wanted.key, wanted.at, wanted.dtype, false}, records.message(record, wanted.at)));
  if (feature.kind != Feature::Kind::kMissing) return std::optional(feature);
  if (standard) return std::optional<Feature>();
  return Error::invalid("the feature '", wanted.key, "' (", name_of(wanted.dtype),
                        ") is missing from the example, which has these features: ",
                        records.names_in(record, ExamplePart::kFeatures), "; set its default_value if it is optional");
}

// The values are counted only after reading them failed.
Error misfit(const FixedLenFeature& wanted, const Feature& feature, size_t count, const Error& error) {
  const Result<int64_t> found = count_values(feature);
  if (found && *found != static_cast<int64_t>(count))
    return Error::invalid("the feature '", wanted.key, "' has ", *found, " values, expected ", count, " for shape ",
                          shape_text(wanted.shape));
  return Error::invalid("the feature '", wanted.key, "': ", error.message());
}

template <typename T>
Result<void> fill(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                  int64_t record, std::span<T> out) {
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, standard, records, record));
  if (!feature) {
    for (size_t i = 0; i < out.size(); ++i)
      if constexpr (std::is_same_v<T, Bytes>)
        out[i] = standard->bytes_at(static_cast<int64_t>(i));
      else
        out[i] = standard->values<T>()[i];
    return {};
  }
  if (Result<void> done = read_values(*feature, out); !done) return misfit(wanted, *feature, out.size(), done.error());
  return {};
}

template <typename T>
Result<void> fill_all(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                      std::span<T> out) {
  STOKER_TRY(records.has_name(wanted.at));
  const size_t each = records.count() > 0 ? out.size() / static_cast<size_t>(records.count()) : 0;
  for (int64_t i = 0; i < records.count(); ++i, out = out.subspan(each))
    if (Result<void> done = fill(wanted, standard, records, i, out.first(each)); !done)
      return records.in_record(done.error(), i);
  return {};
}

// Returns the messages if all are in one block; otherwise null.
const Bytes* messages_in(std::span<const Column> inputs, int64_t rows) {
  const Column& found = inputs[1];
  if (!found.dense() || found.size() != rows || found.block().rank() != 2) return nullptr;
  return found.block().type() == DType::kBytes ? found.block().values<Bytes>().data() : nullptr;
}

// A fast path for messages in the usual encoding. All others take the general path, which also reports errors.
class PlainMessages {
 public:
  PlainMessages(const FixedLenFeature& wanted, std::span<const Column> inputs, const OpRows& rows) {
    const Bytes* all = messages_in(inputs, rows.size);
    if (!all || wanted.at < 0 || wanted.at >= inputs[1].block().dim(1)) return;
    first_ = all + wanted.at;
    stride_ = inputs[1].block().dim(1);
  }
  template <typename Out>
  bool read(int32_t row, Out&& out) const {
    return first_ && read_if_plain(first_[row * stride_], out);
  }

 private:
  const Bytes* first_ = nullptr;
  int64_t stride_ = 0;
};

// Writes the value or values of each row directly into the batch.
template <typename T>
Result<Column> numbers(const FixedLenFeature& wanted, int64_t count, const std::optional<Array>& standard,
                       std::span<const Column> inputs, OpRows& rows, Context& context) {
  STOKER_TRY(Array block, context.result_block(with_rows(rows.size, wanted.shape), wanted.dtype));
  const PlainMessages plain(wanted, inputs, rows);
  std::span<T> left = block.mutable_values<T>();
  for (int32_t i = 0; i < rows.size; ++i) {
    const std::span<T> out = left.first(static_cast<size_t>(count));
    left = left.subspan(out.size());
    if (rows.any_failed() && rows.has_failed(i)) {
      std::ranges::fill(out, T());
      continue;
    }
    if (plain.read(i, out)) continue;
    context.set_row(i);
    const Result<Records> records = Records::of(inputs, i);
    Result<void> done = records ? fill_all(wanted, standard, *records, out) : records.error();
    if (done) continue;
    std::ranges::fill(out, T());
    rows.fail(i, std::move(done).error());
  }
  return Column(std::move(block));
}

template <typename T>
Result<Array> numbers_of(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                         Dims dims) {
  STOKER_TRY(Array made, Array::make(dims, wanted.dtype));
  STOKER_TRY(fill_all(wanted, standard, records, made.mutable_values<T>()));
  return made;
}

// A single string is returned as a view of the record. Several strings are copied into one table.
Result<Array> string_of(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                        const Array& record) {
  STOKER_TRY(records.has_name(wanted.at));
  if (!records.single()) return Error::invalid("expected one record, got the example_features of several records");
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, standard, records, 0));
  if (!feature) return *standard;
  Bytes text;
  if (Result<void> done = read_values(*feature, std::span(&text, 1)); !done)
    return misfit(wanted, *feature, 1, done.error());
  if (record.owner()) record.owner()->keep();
  return Array::view_bytes(text, record.owner());
}

// Returns one string per row if all records are in one table and in the usual encoding; otherwise nothing.
std::optional<Column> table_of_views(const PlainMessages& plain, const Column& records, const OpRows& rows) {
  if (!table_of(records, rows.size)) return std::nullopt;
  RecycledVector<Bytes> texts(static_cast<size_t>(rows.size));
  for (int32_t i = 0; i < rows.size; ++i)
    if (!(rows.any_failed() && rows.has_failed(i)) && !plain.read(i, texts[static_cast<size_t>(i)]))
      return std::nullopt;
  Buffer* owner = records.block().owner();
  if (owner) (owner = owner->characters())->keep();
  return Column(Array::view_strings(texts, owner));
}

// Returns one string per row.
Column views(const FixedLenFeature& wanted, const std::optional<Array>& standard, std::span<const Column> inputs,
             OpRows& rows, Context& context) {
  const PlainMessages plain(wanted, inputs, rows);
  if (std::optional<Column> table = table_of_views(plain, inputs[0], rows)) return *std::move(table);
  Arrays made(static_cast<size_t>(rows.size));
  Array kept;
  const auto carefully = [&](int32_t i) -> Result<Array> {
    STOKER_TRY(const Records records, Records::of(inputs, i));
    return string_of(wanted, standard, records, row_of(inputs[0], i, kept));
  };
  for (int32_t i = 0; i < rows.size; ++i) {
    if (rows.any_failed() && rows.has_failed(i)) continue;
    Bytes text;
    if (plain.read(i, text)) {
      Buffer* owner = row_of(inputs[0], i, kept).owner();
      if (owner) owner->keep();
      made[static_cast<size_t>(i)] = Array::view_bytes(text, owner);
      continue;
    }
    context.set_row(i);
    Result<Array> row = carefully(i);
    if (row)
      made[static_cast<size_t>(i)] = *std::move(row);
    else
      rows.fail(i, std::move(row).error());
  }
  return Column(std::move(made));
}

Result<Array> strings_of(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                         Dims dims, size_t count) {
  std::vector<Bytes> texts(static_cast<size_t>(records.count()) * count);
  STOKER_TRY(fill_all(wanted, standard, records, std::span(texts)));
  return Array::of_strings(texts, dims);
}

}  // namespace

Result<Column> FixedLenFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(const Ready checked, ready());
  const std::optional<Array>& standard = checked.standard;
  if (dtype != DType::kBytes && all_single(inputs[0]))
    return dtype == DType::kInt64 ? numbers<int64_t>(*this, checked.count, standard, inputs, rows, context)
                                  : numbers<float>(*this, checked.count, standard, inputs, rows, context);
  if (shape.empty() && all_single(inputs[0])) return views(*this, standard, inputs, rows, context);
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    const std::vector<int64_t> dims = dims_for(records, shape);
    if (dtype == DType::kInt64) return numbers_of<int64_t>(*this, standard, records, dims);
    if (dtype == DType::kFloat32) return numbers_of<float>(*this, standard, records, dims);
    return strings_of(*this, standard, records, dims, static_cast<size_t>(checked.count));
  });
}

// ---- parse_single_example

Value io::parse_single_example(Value serialized, std::vector<FixedLenFeature> features) {
  ExampleFeatures all;
  for (const FixedLenFeature& feature : features) all.keys.push_back(feature.key);
  const Value found = call(std::move(all), {serialized});
  std::vector<std::pair<std::string, Value>> fields;
  for (FixedLenFeature& feature : features) {
    std::string key = feature.key;
    feature.at = static_cast<int64_t>(fields.size());
    fields.emplace_back(std::move(key), call(std::move(feature), {serialized, found}));
  }
  return dict(std::move(fields));
}

}  // namespace stoker
