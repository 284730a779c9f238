#include "stoker/ops/ragged_feature.h"

#include <algorithm>
#include <array>

#include "stoker/ops/convert.h"
#include "stoker/ops/example_records.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, 6> kPartitions = {"row_splits", "row_lengths",  "row_starts",
                                                         "row_limits", "value_rowids", "uniform_row_length"};
constexpr std::string_view kUniform = "uniform_row_length";

}  // namespace

size_t ragged_levels(const RaggedFeature& feature) {
  size_t levels = feature.partitions.size();
  while (levels > 0 && feature.partitions[levels - 1] == kUniform) --levels;
  return levels;
}

namespace {

std::vector<int64_t> inner_dims(const RaggedFeature& wanted) {
  return {wanted.partition_at.begin() + static_cast<ptrdiff_t>(ragged_levels(wanted)), wanted.partition_at.end()};
}

using Lengths = std::vector<int64_t>;  // of rows

// Return the lengths of the rows into which a partition divides `values` values; nothing if the partition does not fit
// them.
std::optional<Lengths> by_limits(std::span<const int64_t> limits, int64_t values) {
  Lengths lengths;
  int64_t before = 0;
  for (const int64_t limit : limits) {
    if (limit < before || limit > values) return std::nullopt;
    lengths.push_back(limit - before);
    before = limit;
  }
  if (before != values) return std::nullopt;
  return lengths;
}

std::optional<Lengths> by_splits(std::span<const int64_t> splits, int64_t values) {
  if (splits.empty()) return by_limits({}, values);
  return splits[0] == 0 ? by_limits(splits.subspan(1), values) : std::nullopt;
}

std::optional<Lengths> by_starts(std::span<const int64_t> starts, int64_t values) {
  if (starts.empty()) return by_limits({}, values);
  if (starts[0] != 0) return std::nullopt;
  Lengths limits(starts.begin() + 1, starts.end());
  limits.push_back(values);
  return by_limits(limits, values);
}

std::optional<Lengths> by_lengths(std::span<const int64_t> lengths, int64_t values) {
  for (const int64_t length : lengths) {
    if (length < 0 || length > values) return std::nullopt;
    values -= length;
  }
  if (values != 0) return std::nullopt;
  return Lengths(lengths.begin(), lengths.end());
}

// The last number determines the number of rows. Without a limit, a record of a few bytes could request all memory.
constexpr int64_t kMostRows = int64_t{1} << 24;

std::optional<Lengths> by_rowids(std::span<const int64_t> rows, int64_t values) {
  if (static_cast<int64_t>(rows.size()) != values) return std::nullopt;
  if (!std::ranges::is_sorted(rows) || (!rows.empty() && (rows.front() < 0 || rows.back() >= kMostRows)))
    return std::nullopt;
  Lengths lengths(rows.empty() ? 0 : static_cast<size_t>(rows.back()) + 1);
  for (const int64_t row : rows) ++lengths[static_cast<size_t>(row)];
  return lengths;
}

std::optional<Lengths> by_uniform(int64_t length, int64_t values) {
  if (length <= 0 || values % length != 0) return std::nullopt;
  return Lengths(static_cast<size_t>(values / length), length);
}

std::optional<Lengths> lengths_by(std::string_view partition, std::span<const int64_t> numbers, int64_t values) {
  if (partition == "row_splits") return by_splits(numbers, values);
  if (partition == "row_lengths") return by_lengths(numbers, values);
  if (partition == "row_starts") return by_starts(numbers, values);
  if (partition == "row_limits") return by_limits(numbers, values);
  return by_rowids(numbers, values);
}

// The numbers of the partition's feature, in lists that correspond to the lists of values.
struct Partition {
  std::vector<int64_t> sizes;  // number of numbers in each list
  std::vector<int64_t> numbers;
  size_t taken = 0;

  std::span<const int64_t> next(size_t list) {
    const auto size = static_cast<size_t>(sizes[list]);
    const std::span<const int64_t> all(numbers);
    taken += size;
    return all.subspan(taken - size, size);
  }
};

// All rows of one row of the input.
struct Rows {
  std::vector<Lengths> levels;  // from the outermost to the innermost
  Lengths lists;                // number of rows of the outermost level in each list
};

Result<Partition> read_partition(const RaggedFeature& wanted, const Records& records, const ValueLists& values,
                                 size_t level) {
  if (wanted.partitions[level] == kUniform) return Partition();
  const std::string& key = wanted.partition_keys[level];
  STOKER_TRY(const ValueLists rows, lists_of(records, {key, wanted.partition_at[level], DType::kInt64, wanted.steps}));
  for (size_t i = 0; i < values.steps.size(); ++i)
    if (values.steps[i] != rows.steps[i])
      return records.in_record(Error::invalid("the feature '", wanted.key, "' has ", values.steps[i],
                                              " steps, but its partition '", key, "' has ", rows.steps[i]),
                               static_cast<int64_t>(i));
  Partition partition;
  partition.sizes.assign(rows.sizes.begin(), rows.sizes.end());
  partition.numbers.resize(static_cast<size_t>(rows.total));
  STOKER_TRY(read_lists(rows, 0, rows.lists.size(), std::span(partition.numbers)));
  return partition;
}

Error misfit(const RaggedFeature& wanted, size_t level, int64_t values) {
  if (wanted.partitions[level] == kUniform)
    return Error::invalid("the feature '", wanted.key, "' has ", values, " values, expected a multiple of ",
                          wanted.partition_at[level]);
  return Error::invalid("the partition '", wanted.partition_keys[level], "' (", wanted.partitions[level],
                        ") does not fit the ", values, " values of the feature '", wanted.key, "'");
}

// Divides one list of values, starting at the innermost level. Returns the number of rows of the outermost level.
Result<int64_t> divide(const RaggedFeature& wanted, std::vector<Partition>& partitions, size_t list, int64_t values,
                       std::vector<Lengths>& levels) {
  for (size_t level = partitions.size(); level-- > 0;) {
    const bool uniform = wanted.partitions[level] == kUniform;
    const std::optional<Lengths> lengths =
        uniform ? by_uniform(wanted.partition_at[level], values)
                : lengths_by(wanted.partitions[level], partitions[level].next(list), values);
    if (!lengths) return misfit(wanted, level, values);
    values = static_cast<int64_t>(lengths->size());
    if (level < levels.size()) levels[level].insert(levels[level].end(), lengths->begin(), lengths->end());
  }
  return values;
}

Result<Rows> rows_of(const RaggedFeature& wanted, const Records& records, const ValueLists& values) {
  std::vector<Partition> partitions;
  for (size_t level = 0; level < wanted.partitions.size(); ++level) {
    STOKER_TRY(Partition partition, read_partition(wanted, records, values, level));
    partitions.push_back(std::move(partition));
  }
  Rows rows;
  rows.levels.resize(ragged_levels(wanted));
  size_t list = 0;
  for (int64_t record = 0; record < records.count(); ++record)
    for (int64_t step = 0; step < values.steps[static_cast<size_t>(record)]; ++step, ++list) {
      const Result<int64_t> made = divide(wanted, partitions, list, values.sizes[list], rows.levels);
      if (!made) return records.in_record(made.error(), record);
      rows.lists.push_back(*made);
    }
  return rows;
}

Result<Array> splits_of(std::span<const int64_t> lengths, DType dtype) {
  std::vector<int64_t> splits{0};
  for (const int64_t length : lengths) splits.push_back(splits.back() + length);
  if (dtype == DType::kInt32 && splits.back() > INT32_MAX)
    return Error::invalid("the rows end at ", splits.back(), ", which exceeds int32; use int64 row_splits");
  return converted(Array::from(splits), dtype);
}

Error no_part(int64_t part, size_t levels) {
  return Error::invalid("part is ", part, ", but the ragged value has only ", levels, " row_splits");
}

}  // namespace

Result<void> RaggedFeature::check_partitions() const {
  if (row_splits_dtype != DType::kInt32 && row_splits_dtype != DType::kInt64)
    return Error::invalid("row_splits of the feature '", key, "' have dtype ", name_of(row_splits_dtype),
                          ", expected int32 or int64");
  if (partitions.size() != partition_keys.size() || partitions.size() != partition_at.size())
    return Error::invalid("the feature '", key, "' has ", partitions.size(), " partitions, ", partition_keys.size(),
                          " partition_keys and ", partition_at.size(),
                          " partition_at, expected the same number of each");
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (std::ranges::find(kPartitions, partitions[i]) == kPartitions.end())
      return Error::invalid("the feature '", key, "' has the unknown partition '", partitions[i], "'");
    if (partitions[i] == kUniform && (partition_at[i] <= 0 || partition_at[i] > INT32_MAX))
      return Error::invalid("the feature '", key, "' has rows of ", partition_at[i], " values, expected 1 to ",
                            INT32_MAX);
  }
  return {};
}

Result<LeafSpec> RaggedFeature::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_feature(key, dtype, inputs));
  STOKER_TRY(check_partitions());
  if (part >= 0) return LeafSpec{row_splits_dtype, std::vector<int64_t>{-1}};
  std::vector<int64_t> dims = inner_dims(*this);
  dims.insert(dims.begin(), -1);
  return LeafSpec{dtype, std::move(dims)};
}

Result<Column> RaggedFeature::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  STOKER_TRY(check_partitions());
  return each_row_of_records(inputs, rows, context, [&](const Records& records, int32_t) -> Result<Array> {
    STOKER_TRY(const ValueLists values, lists_of(records, {key, at, dtype, steps}));
    STOKER_TRY(Rows found, rows_of(*this, records, values));
    if (part < 0) {
      std::vector<int64_t> dims = inner_dims(*this);
      int64_t outermost = values.total;
      for (const int64_t dim : dims) outermost /= dim;
      dims.insert(dims.begin(), outermost);
      return values_of(values, dtype, dims);
    }
    std::vector<Lengths> outer;
    if (steps && !records.single()) outer.emplace_back(values.steps.begin(), values.steps.end());
    if (steps || !records.single()) outer.push_back(std::move(found.lists));
    const auto wanted = static_cast<size_t>(part);
    if (wanted >= outer.size() + found.levels.size()) return no_part(part, outer.size() + found.levels.size());
    return splits_of(wanted < outer.size() ? outer[wanted] : found.levels[wanted - outer.size()], row_splits_dtype);
  });
}

}  // namespace stoker
