#include "stoker/ops/sparse_features.h"

#include <algorithm>
#include <numeric>

#include "stoker/ops/example_records.h"

namespace stoker {
namespace {

Error no_part(const std::string& part) {
  return Error::invalid("part must be indices, values or dense_shape, got '", part, "'");
}

// Returns the spec of one part of a sparse value with `own` dimensions after those of the records.
Result<LeafSpec> part_spec(const std::string& part, DType dtype, const LeafSpec& serialized, int64_t own) {
  const int64_t rank = serialized.shape ? own + static_cast<int64_t>(serialized.shape->size()) : -1;
  if (part == "indices") return LeafSpec{DType::kInt64, std::vector<int64_t>{-1, rank}};
  if (part == "values") return LeafSpec{dtype, std::vector<int64_t>{-1}};
  if (part == "dense_shape") return LeafSpec{DType::kInt64, std::vector<int64_t>{rank}};
  return no_part(part);
}

template <typename List>
int64_t largest(const List& list) {
  return list.empty() ? 0 : *std::max_element(list.begin(), list.end());
}

Result<Array> filled(std::initializer_list<int64_t> dims, const std::vector<int64_t>& values) {
  STOKER_TRY(Array made, Array::make(dims, DType::kInt64));
  std::ranges::copy(values, made.mutable_values<int64_t>().begin());
  return made;
}

// ---- VarLenFeature

Result<Array> indices_of(const Records& records, const ValueLists& lists, bool steps) {
  const int64_t rank = (records.single() ? 0 : 1) + (steps ? 1 : 0) + 1;
  STOKER_TRY(Array made, Array::make({lists.total, rank}, DType::kInt64));
  auto out = made.mutable_values<int64_t>().begin();
  size_t list = 0;
  for (int64_t record = 0; record < records.count(); ++record)
    for (int64_t step = 0; step < lists.steps[static_cast<size_t>(record)]; ++step, ++list)
      for (int64_t i = 0; i < lists.sizes[list]; ++i) {
        if (!records.single()) *out++ = record;
        if (steps) *out++ = step;
        *out++ = i;
      }
  return made;
}

Result<Array> dense_shape_of(const Records& records, const ValueLists& lists, bool steps) {
  std::vector<int64_t> shape;
  if (!records.single()) shape.push_back(records.count());
  if (steps) shape.push_back(largest(lists.steps));
  shape.push_back(largest(lists.sizes));
  return Array::from(shape);
}

}  // namespace

Result<LeafSpec> VarLenFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, dtype, inputs));
  return part_spec(part, dtype, inputs[0], steps ? 2 : 1);
}

Result<Column> VarLenFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    STOKER_TRY(const ValueLists lists, lists_of(records, {key, at, dtype, steps}));
    if (part == "indices") return indices_of(records, lists, steps);
    if (part == "dense_shape") return dense_shape_of(records, lists, steps);
    return values_of(lists, dtype, Dims(&lists.total, 1));
  });
}

// ---- SparseFeature

namespace {

// The coordinates of all values, record after record, and the order in which to return them.
struct Coordinates {
  std::vector<std::vector<int64_t>> axes;
  std::vector<int64_t> records;  // the number of the record of each value
  std::vector<size_t> order;

  bool before(size_t a, size_t b) const {
    if (records[a] != records[b]) return records[a] < records[b];
    for (const std::vector<int64_t>& axis : axes)
      if (axis[a] != axis[b]) return axis[a] < axis[b];
    return a < b;
  }
};

Result<void> same_sizes(const SparseFeature& wanted, const Records& records, const ValueLists& values,
                        const std::string& key, const ValueLists& indices) {
  for (size_t i = 0; i < values.sizes.size(); ++i)
    if (values.sizes[i] != indices.sizes[i])
      return records.in_record(
          Error::invalid("the feature '", key, "' has ", indices.sizes[i], " indices, expected one for each of the ",
                         values.sizes[i], " values of '", wanted.value_key, "'"),
          static_cast<int64_t>(i));
  return {};
}

Result<Coordinates> coordinates_of(const SparseFeature& wanted, const Records& records, const ValueLists& values) {
  Coordinates all;
  for (size_t axis = 0; axis < wanted.index_keys.size(); ++axis) {
    const std::string& key = wanted.index_keys[axis];
    STOKER_TRY(const ValueLists indices, lists_of(records, {key, wanted.index_at[axis], DType::kInt64, false}));
    STOKER_TRY(same_sizes(wanted, records, values, key, indices));
    std::vector<int64_t>& numbers = all.axes.emplace_back(static_cast<size_t>(indices.total));
    STOKER_TRY(read_lists(indices, 0, indices.lists.size(), std::span(numbers)));
  }
  for (size_t i = 0; i < values.sizes.size(); ++i)
    all.records.insert(all.records.end(), static_cast<size_t>(values.sizes[i]), static_cast<int64_t>(i));
  all.order.resize(all.records.size());
  std::iota(all.order.begin(), all.order.end(), size_t{0});
  if (!wanted.already_sorted) std::ranges::sort(all.order, [&](size_t a, size_t b) { return all.before(a, b); });
  return all;
}

Result<Array> indices_of(const Records& records, const Coordinates& all) {
  const auto rank = static_cast<int64_t>(all.axes.size()) + (records.single() ? 0 : 1);
  std::vector<int64_t> flat;
  flat.reserve(all.order.size() * static_cast<size_t>(rank));
  for (const size_t i : all.order) {
    if (!records.single()) flat.push_back(all.records[i]);
    for (const std::vector<int64_t>& axis : all.axes) flat.push_back(axis[i]);
  }
  return filled({static_cast<int64_t>(all.order.size()), rank}, flat);
}

template <typename T>
Result<std::vector<T>> in_order(const ValueLists& lists, const std::vector<size_t>& order) {
  std::vector<T> all(static_cast<size_t>(lists.total)), sorted;
  STOKER_TRY(read_lists(lists, 0, lists.lists.size(), std::span(all)));
  sorted.reserve(all.size());
  for (const size_t i : order) sorted.push_back(all[i]);
  return sorted;
}

Result<Array> values_in_order(const ValueLists& lists, DType dtype, const std::vector<size_t>& order) {
  if (dtype == DType::kInt64) {
    STOKER_TRY(const std::vector<int64_t> sorted, in_order<int64_t>(lists, order));
    return Array::from(sorted);
  }
  if (dtype == DType::kFloat32) {
    STOKER_TRY(const std::vector<float> sorted, in_order<float>(lists, order));
    return Array::from(sorted);
  }
  STOKER_TRY(const std::vector<Bytes> sorted, in_order<Bytes>(lists, order));
  return Array::from(sorted);
}

}  // namespace

Result<void> SparseFeature::check_sizes() const {
  if (index_keys.empty()) return Error::invalid("index_keys is empty, expected at least one feature with indices");
  if (index_keys.size() != size.size() || index_keys.size() != index_at.size())
    return Error::invalid("the sparse feature of '", value_key, "' has ", index_keys.size(), " index_keys, ",
                          index_at.size(), " index_at and ", size.size(), " sizes, expected the same number of each");
  return {};
}

Result<LeafSpec> SparseFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(value_key, dtype, inputs));
  STOKER_TRY(check_sizes());
  return part_spec(part, dtype, inputs[0], static_cast<int64_t>(size.size()));
}

Result<Column> SparseFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(check_sizes());
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    STOKER_TRY(const ValueLists values, lists_of(records, {value_key, value_at, dtype, false}));
    STOKER_TRY(const Coordinates all, coordinates_of(*this, records, values));
    if (part == "indices") return indices_of(records, all);
    if (part == "values") return values_in_order(values, dtype, all.order);
    std::vector<int64_t> shape(size);
    if (!records.single()) shape.insert(shape.begin(), records.count());
    return Array::from(shape);
  });
}

}  // namespace stoker
