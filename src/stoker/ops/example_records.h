#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/core/inline_vector.h"
#include "stoker/graph/op.h"

namespace stoker {

// Shared by the operations on features. The inputs of each are the serialized records (one string or a vector) and the
// result of `example_features` for them: one encoded message for each record and key.

// The records of one row of the inputs. Valid while the inputs exist.
class Records {
 public:
  static Result<Records> of(std::span<const Column> inputs, int32_t row);

  bool single() const { return single_; }  // false: a vector, which may have one record or none
  int64_t count() const { return count_; }
  // Returns the message of one record and one key. Its data() is null if the record does not have the feature.
  Bytes message(int64_t record, int64_t name) const { return messages_[static_cast<size_t>(record * names_ + name)]; }
  Result<void> has_name(int64_t name) const;
  // Adds the number of the record to an error, if there are several records.
  Error in_record(const Error& error, int64_t record) const;
  // The names in one record, for a message: "'image', 'label'".
  std::string names_in(int64_t record, ExamplePart part) const;

 private:
  const Column* serialized_ = nullptr;
  int32_t row_ = 0;
  const Bytes* messages_ = nullptr;
  int64_t names_ = 0;
  int64_t count_ = 1;
  bool single_ = true;
};

// The feature that an operation reads.
struct WantedFeature {
  const std::string& key;
  int64_t at;   // the position of the key
  DType dtype;  // int64, float32 or string
  bool steps;   // the message is a list of features, one for each step
};

// Returns the feature in a message, or kMissing. Returns an error if its type is not the expected one.
Result<Feature> feature_in(const WantedFeature& wanted, Bytes message);

// The lists of values of one key in the records of a row, in order: one list for each record, or one for each step of
// each record.
struct ValueLists {
  InlineVector<Feature, 4> lists;
  InlineVector<int64_t, 4> sizes;  // number of values in each list
  InlineVector<int64_t, 4> steps;  // number of lists in each record; 1 without steps
  int64_t total = 0;               // number of all values
};
Result<ValueLists> lists_of(const Records& records, const WantedFeature& wanted);

// Returns all values in order, with these dims.
Result<Array> values_of(const ValueLists& lists, DType dtype, Dims dims);
// Reads the values of lists [first, first + count) into `out`, which must be large enough for all of them.
template <typename T>
Result<void> read_lists(const ValueLists& lists, size_t first, size_t count, std::span<T> out) {
  for (size_t i = first; i < first + count; ++i) {
    STOKER_TRY(read_values(lists.lists[i], out.first(static_cast<size_t>(lists.sizes[i]))));
    out = out.subspan(static_cast<size_t>(lists.sizes[i]));
  }
  return {};
}

Result<void> check_dtype(const std::string& key, DType dtype);
// Checks the dtype, and that the inputs are records and the result of example_features.
Result<void> check_feature(const std::string& key, DType dtype, std::span<const LeafSpec> inputs);

// Returns the number of values of a feature. Fails if its shape has unknown sizes.
Result<int64_t> feature_size(const std::string& key, Dims shape);
// Converts the default of a feature to the feature's type. Fails if that could lose digits.
Result<Array> typed_default(const std::string& key, const Array& value, DType dtype);
std::vector<int64_t> joined(Dims front, Dims back);
// Returns the spec of a feature, with the dims of the records in front of its shape.
LeafSpec behind_records(const LeafSpec& serialized, DType dtype, Dims shape);
// Returns the dims of a feature: its shape for a single record; for a vector, the number of records and the shape.
std::vector<int64_t> dims_for(const Records& records, Dims shape);

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
