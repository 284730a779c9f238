#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/core/inline_vector.h"
#include "stoker/graph/op.h"

namespace stoker {

// What the operations on features share. Each takes the serialized records, one
// string or a vector of them, and beside it what `example_features` found there:
// one encoded message for each record and name.

// The records of one row of the inputs; good while these live.
class Records {
 public:
  static Result<Records> of(std::span<const Column> inputs, int32_t row);

  bool single() const { return single_; }  // else a vector, also of one or none
  int64_t count() const { return count_; }
  // Of one record and one name; without data(): it is not there.
  Bytes message(int64_t record, int64_t name) const { return messages_[static_cast<size_t>(record * names_ + name)]; }
  Result<void> has_name(int64_t name) const;
  // The same error, which names the record where there are several.
  Error in_record(const Error& error, int64_t record) const;

 private:
  const Bytes* messages_ = nullptr;
  int64_t names_ = 0;
  int64_t count_ = 1;
  bool single_ = true;
};

// What is wanted of one name.
struct WantedFeature {
  const std::string& key;
  int64_t at;   // the place of the name
  DType dtype;  // int64, float32 or string
  bool steps;   // its message is a list of features, one for each step
};

// The feature in a message, checked to be of the type; kMissing: there is none.
Result<Feature> feature_in(const WantedFeature& wanted, Bytes message);

// The lists of values of one name in the records of a row, one after the other:
// one of each record, or one of each step of each record.
struct ValueLists {
  InlineVector<Feature, 4> lists;
  InlineVector<int64_t, 4> sizes;  // values of each
  InlineVector<int64_t, 4> steps;  // lists of each record; all 1 without steps
  int64_t total = 0;               // values
};
Result<ValueLists> lists_of(const Records& records, const WantedFeature& wanted);

// All values in order, under these dims.
Result<Array> values_of(const ValueLists& lists, DType dtype, Dims dims);
// Values of lists [first, first + count), of which `out` has room for all.
template <typename T>
Result<void> read_lists(const ValueLists& lists, size_t first, size_t count, std::span<T> out) {
  for (size_t i = first; i < first + count; ++i) {
    STOKER_TRY(read_values(lists.lists[i], out.first(static_cast<size_t>(lists.sizes[i]))));
    out = out.subspan(static_cast<size_t>(lists.sizes[i]));
  }
  return {};
}

Result<void> check_dtype(const std::string& key, DType dtype);
// Before running: besides, that the inputs are records and what was found in them.
Result<void> check_feature(const std::string& key, DType dtype, std::span<const LeafSpec> inputs);

// Calls body(records, row) -> Result<Array> for each row.
template <typename Body>
Column each_row_of_records(std::span<const Column> inputs, OpRows& rows, Context& context, Body&& body) {
  Arrays made(static_cast<size_t>(rows.size));
  const auto make = [&](int32_t i) -> Result<Array> {
    STOKER_TRY(const Records records, Records::of(inputs, i));
    return body(records, i);
  };
  for (int32_t i = 0; i < rows.size; ++i) {
    if (rows.any_failed() && rows.has_failed(i)) continue;
    context.set_row(i);
    Result<Array> row = make(i);
    if (row)
      made[static_cast<size_t>(i)] = *std::move(row);
    else
      rows.fail(i, std::move(row).error());
  }
  return Column(std::move(made));
}

}  // namespace stoker
