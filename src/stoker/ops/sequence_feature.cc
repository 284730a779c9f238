#include "stoker/ops/sequence_feature.h"

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/ops/convert.h"
#include "stoker/ops/example_records.h"
#include "stoker/ops/rows.h"

namespace stoker {

// ---- fixed_len_sequence_feature

Result<int64_t> FixedLenSequenceFeature::row_size() const {
  STOKER_TRY(const int64_t count, feature_size(key, shape));
  if (count > 0) return count;
  return Error::invalid("the feature '", key, "' has rows of shape ", shape_text(shape),
                        ", expected rows of at least one value");
}

Result<Array> FixedLenSequenceFeature::filler() const {
  if (!default_value) return dtype == DType::kBytes ? Array::of_bytes("") : converted(Array::of<int64_t>(0), dtype);
  if (default_value->count() != 1)
    return Error::invalid("the default of the feature '", key, "' has ", default_value->count(),
                          " values, expected one value for padding");
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

// Returns the number of rows of each record.
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
                           " values, expected ", row_size, " for shape ", shape_text(wanted.shape)),
            i);
    }
    if (values % row_size != 0)
      return records.in_record(Error::invalid("the feature '", wanted.key, "' has ", values,
                                              " values, expected complete rows of shape ", shape_text(wanted.shape)),
                               i);
    if (!wanted.allow_missing && !records.message(i, wanted.at).data())
      return records.in_record(
          Error::invalid("the feature '", wanted.key, "' (", name_of(wanted.dtype),
                         ") is missing from the example, which has these ",
                         wanted.steps ? "feature lists: " : "features: ",
                         records.names_in(i, wanted.steps ? ExamplePart::kLists : ExamplePart::kFeatures),
                         "; set allow_missing if it is optional"),
          i);
    rows.push_back(values / row_size);
  }
  return rows;
}

// Copies the values of each record and pads them to `each` values with one value.
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

// ---- sequence_length

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

}  // namespace stoker
