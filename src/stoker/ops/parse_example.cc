#include "stoker/ops/parse_example.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "stoker/codecs/example.h"
#include "stoker/ops/call.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/example_records.h"
#include "stoker/ops/rows.h"

namespace stoker {
namespace {

Error no_records(const std::string& found) {
  return Error::invalid("serialized examples were wanted, string[] or string[?], and this is ", found);
}

// Whether a default of one type may stand for another, as a plain number may.
bool may_become(DType from, DType to) {
  if (from == to) return true;
  return to == DType::kInt64 ? is_integer(from) : to == DType::kFloat32 && (is_integer(from) || is_float(from));
}

Result<int64_t> count_of(const std::string& key, Dims shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return Error::invalid("the feature '", key, "' wants a shape that is known, not ", words_of(shape));
  return count;
}

Result<Array> typed_default(const std::string& key, const Array& value, DType dtype) {
  if (may_become(value.type(), dtype)) return converted(value, dtype);
  return Error::invalid("the default of the feature '", key, "' is ", name_of(value.type()), ", ", name_of(dtype),
                        " was wanted");
}

std::vector<int64_t> joined(Dims front, Dims back) {
  std::vector<int64_t> dims(front.begin(), front.end());
  dims.insert(dims.end(), back.begin(), back.end());
  return dims;
}

// What records of this spec add in front of a feature's shape.
LeafSpec behind_records(const LeafSpec& serialized, DType dtype, Dims shape) {
  if (!serialized.shape) return {dtype, std::nullopt};
  return {dtype, joined(*serialized.shape, shape)};
}

}  // namespace

// ---- finding

Result<LeafSpec> ExampleFeatures::spec(std::span<const LeafSpec> inputs) const {
  const LeafSpec& input = inputs[0];
  if ((input.type && *input.type != DType::kBytes) || (input.shape && input.shape->size() > 1))
    return no_records(input.words());
  const auto n = static_cast<int64_t>(keys.size());
  return behind_records(input, DType::kBytes, Dims(&n, 1));
}

namespace {

Result<void> find_in(const FeatureNames& names, ExamplePart part, const Array& records, Bytes* found) {
  if (records.type() != DType::kBytes || records.rank() > 1)
    return no_records(std::string(name_of(records.type())) + words_of(records.dims()));
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

// Row i without a count of its owner, where it lies apart; else made, in `kept`.
const Array& row_of(const Column& column, int32_t i, Array& kept) {
  if (!column.dense() && column.size() > 1) return column.rows()[static_cast<size_t>(i)];
  return kept = input_row(column, i);
}

// The records, where each row is one and all lie in one table.
const Bytes* table_of(const Column& column, int64_t rows) {
  if (!column.dense() || column.size() != rows || column.block().rank() != 1) return nullptr;
  return column.block().type() == DType::kBytes ? column.block().values<Bytes>().data() : nullptr;
}

// One more reference to what keeps the characters of these records.
Buffer* keeper_of(const Array& records) {
  Buffer* owner = records.owner();
  if (owner) (owner = owner->characters())->keep();
  return owner;
}
Buffer* keeper_of(const Column& records) {
  if (records.dense()) return keeper_of(records.block());
  const auto same = [&](const Array& row) { return row.owner() == records.rows()[0].owner(); };
  if (std::ranges::all_of(records.rows(), same)) return keeper_of(records.rows()[0]);
  return Buffer::wrap(nullptr, 0, [records] {});
}

// For views of records, which it keeps: it may be the result of a map and outlive them.
Array table_for(Dims dims, Buffer* keeper) {
  const auto count = static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
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
      if (records.rank() > 1) return no_records(std::string(name_of(records.type())) + words_of(records.dims()));
      Array found = table_for(joined(records.dims(), Dims(&n, 1)), keeper_of(records));
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

// ---- a fixed shape

// The parameters, checked.
struct FixedLenFeature::Ready {
  int64_t count = 1;              // values
  std::optional<Array> standard;  // the default, of the right type and shape
};

Result<FixedLenFeature::Ready> FixedLenFeature::ready() const {
  STOKER_TRY(check_dtype(key, dtype));
  STOKER_TRY(const int64_t count, count_of(key, shape));
  if (!default_value) return Ready{count, std::nullopt};
  if (default_value->count() != count)
    return Error::invalid("the default of the feature '", key, "' has ", default_value->count(), " values, the shape ",
                          words_of(shape), " wants ", count);
  if (count == 0) return Ready{count, std::nullopt};  // as in TensorFlow, an empty default is none
  STOKER_TRY(const Array typed, typed_default(key, *default_value, dtype));
  const bool same = std::ranges::equal(typed.dims(), Dims(shape));
  return Ready{count, same ? typed : typed.reshaped(shape)};
}

Result<LeafSpec> FixedLenFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, dtype, inputs));
  STOKER_TRY(ready());
  return behind_records(inputs[0], dtype, shape);
}

namespace {

// The feature of one record, if it is there with this type; nothing if the
// default has to stand for it.
Result<std::optional<Feature>> find(const FixedLenFeature& wanted, const std::optional<Array>& standard,
                                    Bytes message) {
  STOKER_TRY(const Feature feature, feature_in({wanted.key, wanted.at, wanted.dtype, false}, message));
  if (feature.kind != Feature::Kind::kMissing) return std::optional(feature);
  if (standard) return std::optional<Feature>();
  return Error::invalid("the feature '", wanted.key, "' (", name_of(wanted.dtype),
                        ") is required and not in the example");
}

// Counted only where reading has failed.
Error misfit(const FixedLenFeature& wanted, const Feature& feature, size_t count, const Error& error) {
  const Result<int64_t> found = count_values(feature);
  if (found && *found != static_cast<int64_t>(count))
    return Error::invalid("the feature '", wanted.key, "' has ", *found, " values, the shape ", words_of(wanted.shape),
                          " wants ", count);
  return Error::invalid("the feature '", wanted.key, "': ", error.message());
}

template <typename T>
Result<void> fill(const FixedLenFeature& wanted, const std::optional<Array>& standard, Bytes message,
                  std::span<T> out) {
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, standard, message));
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
    if (Result<void> done = fill(wanted, standard, records.message(i, wanted.at), out.first(each)); !done)
      return records.in_record(done.error(), i);
  return {};
}

// The message of row i, where all lie in one block.
const Bytes* messages_in(std::span<const Column> inputs, int64_t rows) {
  const Column& found = inputs[1];
  if (!found.dense() || found.size() != rows || found.block().rank() != 2) return nullptr;
  return found.block().type() == DType::kBytes ? found.block().values<Bytes>().data() : nullptr;
}

// Reads messages as nearly all are; the others are left to what tells their errors.
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

// One value, or a row of them, is written where it belongs in its batch.
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

// One string is a view of the record; several are copied into one table.
Result<Array> string_of(const FixedLenFeature& wanted, const std::optional<Array>& standard, const Records& records,
                        const Array& record) {
  STOKER_TRY(records.has_name(wanted.at));
  if (!records.single()) return Error::invalid("what was found is of several records, and there is one");
  STOKER_TRY(const std::optional<Feature> feature, find(wanted, standard, records.message(0, wanted.at)));
  if (!feature) return *standard;
  Bytes text;
  if (Result<void> done = read_values(*feature, std::span(&text, 1)); !done)
    return misfit(wanted, *feature, 1, done.error());
  if (record.owner()) record.owner()->keep();
  return Array::view_bytes(text, record.owner());
}

// Each row one string, all of records in one table and written as usual; nothing
// where one of them is not.
std::optional<Column> table_of_views(const PlainMessages& plain, const Column& records, const OpRows& rows) {
  if (!table_of(records, rows.size)) return std::nullopt;
  std::vector<Bytes> texts(static_cast<size_t>(rows.size));
  for (int32_t i = 0; i < rows.size; ++i)
    if (!(rows.any_failed() && rows.has_failed(i)) && !plain.read(i, texts[static_cast<size_t>(i)]))
      return std::nullopt;
  Buffer* owner = records.block().owner();
  if (owner) (owner = owner->characters())->keep();
  return Column(Array::view_strings(texts, owner));
}

// Each row one string.
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

std::vector<int64_t> dims_for(const Records& records, Dims shape) {
  return records.single() ? std::vector<int64_t>(shape.begin(), shape.end()) : with_rows(records.count(), shape);
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

// ---- rows of a fixed shape

Result<int64_t> FixedLenSequenceFeature::row_size() const {
  STOKER_TRY(const int64_t count, count_of(key, shape));
  if (count > 0) return count;
  return Error::invalid("the feature '", key, "' has rows of shape ", words_of(shape), ", which hold no value");
}

Result<Array> FixedLenSequenceFeature::filler() const {
  if (!default_value) return dtype == DType::kBytes ? Array::of_bytes("") : converted(Array::of<int64_t>(0), dtype);
  if (default_value->count() != 1)
    return Error::invalid("the default of the feature '", key, "' has ", default_value->count(),
                          " values, one to fill up with was wanted");
  STOKER_TRY(const Array typed, typed_default(key, *default_value, dtype));
  return typed.reshaped({});
}

Result<LeafSpec> FixedLenSequenceFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, dtype, inputs));
  STOKER_TRY(row_size());
  STOKER_TRY(filler());
  return behind_records(inputs[0], dtype, with_rows(-1, shape));
}

namespace {

// How many rows each record has.
Result<std::vector<int64_t>> rows_in(const FixedLenSequenceFeature& wanted, const Records& records,
                                     const ValueLists& lists, int64_t row_size) {
  std::vector<int64_t> rows;
  size_t list = 0;
  for (int64_t i = 0; i < records.count(); ++i) {
    const int64_t steps = lists.steps[static_cast<size_t>(i)];
    int64_t values = 0;
    for (int64_t step = 0; step < steps; ++step, ++list) {
      values += lists.sizes[list];
      if (wanted.steps && lists.sizes[list] != row_size)
        return records.in_record(
            Error::invalid("step ", step, " of the feature '", wanted.key, "' has ", lists.sizes[list],
                           " values, the shape ", words_of(wanted.shape), " wants ", row_size),
            i);
    }
    if (values % row_size != 0)
      return records.in_record(Error::invalid("the feature '", wanted.key, "' has ", values,
                                              " values, which are no whole rows of shape ", words_of(wanted.shape)),
                               i);
    if (!wanted.allow_missing && !records.message(i, wanted.at).data())
      return records.in_record(Error::invalid("the feature '", wanted.key, "' (", name_of(wanted.dtype),
                                              ") is required and not in the example"),
                               i);
    rows.push_back(values / row_size);
  }
  return rows;
}

// Each record's values, filled up to `each` with one value.
template <typename T>
Result<void> fill_up(const Records& records, const ValueLists& lists, T filler, size_t each, std::span<T> out) {
  size_t list = 0;
  for (int64_t i = 0; i < records.count(); ++i, out = out.subspan(each)) {
    const auto steps = static_cast<size_t>(lists.steps[static_cast<size_t>(i)]);
    size_t values = 0;
    for (size_t step = 0; step < steps; ++step) values += static_cast<size_t>(lists.sizes[list + step]);
    STOKER_TRY(read_lists(lists, list, steps, out.first(values)));
    std::ranges::fill(out.subspan(values, each - values), filler);
    list += steps;
  }
  return {};
}

Result<Array> filled_up(const Records& records, const ValueLists& lists, const Array& filler, size_t each, Dims dims) {
  if (filler.type() == DType::kBytes) {
    std::vector<Bytes> texts(each * static_cast<size_t>(records.count()));
    STOKER_TRY(fill_up(records, lists, filler.bytes(), each, std::span(texts)));
    return Array::of_strings(texts, dims);
  }
  STOKER_TRY(Array made, Array::make(dims, filler.type()));
  if (filler.type() == DType::kInt64) {
    STOKER_TRY(fill_up(records, lists, filler.scalar<int64_t>(), each, made.mutable_values<int64_t>()));
  } else {
    STOKER_TRY(fill_up(records, lists, filler.scalar<float>(), each, made.mutable_values<float>()));
  }
  return made;
}

}  // namespace

Result<Column> FixedLenSequenceFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(const int64_t size, row_size());
  STOKER_TRY(const Array fill, filler());
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    STOKER_TRY(const ValueLists lists, lists_of(records, {key, at, dtype, steps}));
    STOKER_TRY(const std::vector<int64_t> lengths, rows_in(*this, records, lists, size));
    const int64_t longest = lengths.empty() ? 0 : std::ranges::max(lengths);
    return filled_up(records, lists, fill, static_cast<size_t>(longest * size),
                     dims_for(records, with_rows(longest, shape)));
  });
}

// ---- lengths

Result<LeafSpec> SequenceLength::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, DType::kInt64, inputs));
  return LeafSpec{DType::kInt64, inputs[0].shape};
}

Result<Column> SequenceLength::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    STOKER_TRY(records.has_name(at));
    STOKER_TRY(Array made, Array::make(dims_for(records, {}), DType::kInt64));
    for (int64_t i = 0; i < records.count(); ++i) {
      const Result<int64_t> steps = count_steps(records.message(i, at));
      if (!steps) return records.in_record(steps.error(), i);
      made.mutable_values<int64_t>()[static_cast<size_t>(i)] = *steps;
    }
    return made;
  });
}

// ----

Value parse_single_example(Value serialized, std::vector<FixedLenFeature> features) {
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
