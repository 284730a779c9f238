// Any bytes are read without a crash. An example that can be read and is written again reads the
// same. Every kind of feature is decoded from the bytes, alone and as a vector of records: sparse
// indices are inside their shape, rows of ragged values end where the values do, and a vector of
// records gives the stacked results of the single records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/graph/function.h"
#include "stoker/ops/call.h"
#include "stoker/ops/parse_example.h"
#include "stoker/ops/ragged_feature.h"
#include "stoker/ops/sequence_feature.h"
#include "stoker/ops/sparse_features.h"

namespace stoker {
namespace {

// ---- writing again what was read

// Passes the values of a feature to put(values). Returns false if they cannot be read.
template <typename T, typename Put>
bool copy_values(const Feature& feature, Put put) {
  const Result<int64_t> count = count_values(feature);
  if (!count) return false;
  std::vector<T> values(static_cast<size_t>(*count));
  if (!read_values(feature, std::span<T>(values))) return false;
  put(std::span<const T>(values));
  return true;
}

template <typename Put>
bool copy_feature(Bytes message, Put put) {
  const Result<Feature> feature = feature_in(message);
  if (!feature) return false;
  switch (feature->kind) {
    case Feature::Kind::kMissing: return false;
    case Feature::Kind::kBytes: return copy_values<Bytes>(*feature, put);
    case Feature::Kind::kFloat32: return copy_values<float>(*feature, put);
    case Feature::Kind::kInt64: return copy_values<int64_t>(*feature, put);
  }
  return false;
}

bool copy_list(Bytes list, const std::string& name, SequenceExampleWriter& writer) {
  writer.add_list(name);
  StepWalk walk(list);
  while (true) {
    const Result<bool> more = walk.next();
    if (!more || !*more) return more.ok();
    if (!copy_feature(walk.message(), [&](auto values) { writer.add_step(name, values); })) return false;
  }
}

// A name that occurs twice would be joined with the first one.
template <typename Copy>
bool copy_part(Bytes example, ExamplePart part, Copy copy) {
  std::vector<std::string> seen;
  FeatureWalk walk(example, part);
  while (true) {
    const Result<bool> more = walk.next();
    if (!more || !*more) return more.ok();
    const std::string name(walk.name());
    if (std::ranges::find(seen, name) != seen.end() || !copy(name, walk.message())) return false;
    seen.push_back(name);
  }
}

bool copy_example(Bytes example, SequenceExampleWriter& writer) {
  const auto features = [&](const std::string& name, Bytes message) {
    return copy_feature(message, [&](auto values) { writer.context.set(name, values); });
  };
  const auto lists = [&](const std::string& name, Bytes list) { return copy_list(list, name, writer); };
  return copy_part(example, ExamplePart::kFeatures, features) && copy_part(example, ExamplePart::kLists, lists);
}

void write_again(Bytes example) {
  SequenceExampleWriter first, second;
  if (!copy_example(example, first)) return;
  const std::string written = first.serialized();
  STOKER_CHECK(copy_example(written, second));
  STOKER_CHECK(second.serialized() == written);
}

// ---- every kind of feature

const std::vector<std::string> kNames = {"a", "b", "c"};

template <typename T>
Result<Array> decoded(T op, const Array& records, bool lists) {
  const Function function = [&](Value x) {
    return call(op, {x, call(ExampleFeatures{.keys = kNames, .lists = lists}, {x})});
  };
  STOKER_CHECK(function.check().ok());
  Run run = Run::of(Element(records), Origin{});
  Context context;
  STOKER_TRY(function.apply(run, context));
  if (!run.failed.empty()) return run.failed[0].error;
  return run.element(0).leaves[0];
}

void check_sparse(VarLenFeature op, const Array& records) {
  op.part = "indices";
  const Result<Array> indices = decoded(op, records, op.steps);
  op.part = "values";
  const Result<Array> values = decoded(op, records, op.steps);
  op.part = "dense_shape";
  const Result<Array> shape = decoded(op, records, op.steps);
  STOKER_CHECK(indices.ok() == values.ok() || op.dtype != DType::kBytes);
  if (!indices || !values || !shape) return;
  const int64_t rank = indices->dim(1);
  STOKER_CHECK(indices->dim(0) == values->dim(0) && shape->dim(0) == rank);
  for (int64_t i = 0; i < indices->count(); ++i) {
    const int64_t index = indices->values<int64_t>()[static_cast<size_t>(i)];
    STOKER_CHECK(index >= 0 && index < shape->values<int64_t>()[static_cast<size_t>(i % rank)]);
  }
}

void check_ragged(RaggedFeature op, const Array& records) {
  const Result<Array> values = decoded(op, records, op.steps);
  if (!values) return;
  int64_t inside = values->dim(0);
  for (int64_t part = 3; part-- > 0;) {
    op.part = part;
    const Result<Array> splits = decoded(op, records, op.steps);
    if (!splits) continue;  // fewer dims
    const auto ends = splits->values<int32_t>();
    STOKER_CHECK(!ends.empty() && ends.front() == 0 && ends.back() == inside && std::ranges::is_sorted(ends));
    inside = splits->dim(0) - 1;
  }
}

void decode_all(const Array& records) {
  for (const DType dtype : {DType::kInt64, DType::kFloat32, DType::kBytes})
    for (const bool steps : {false, true}) {
      check_sparse({.key = "a", .dtype = dtype, .steps = steps}, records);
      check_ragged({.key = "a", .dtype = dtype, .steps = steps}, records);
      (void)decoded(
          FixedLenSequenceFeature{.key = "a", .shape = {2}, .dtype = dtype, .allow_missing = true, .steps = steps},
          records, steps);
    }
  for (const char* rows : {"row_splits", "row_lengths", "row_starts", "row_limits", "value_rowids"})
    for (const bool steps : {false, true})
      check_ragged({.key = "a",
                    .partitions = {rows, "uniform_row_length"},
                    .partition_keys = {"b", ""},
                    .partition_at = {1, 2},
                    .steps = steps},
                   records);
  for (const char* part : {"indices", "values", "dense_shape"})
    (void)decoded(
        SparseFeature{.index_keys = {"b", "c"}, .index_at = {1, 2}, .value_key = "a", .size = {5, 5}, .part = part},
        records, false);
  (void)decoded(SequenceLength{.key = "a"}, records, true);
}

// Each record alone, and both as a vector.
void stack_both(Bytes one, Bytes other) {
  const std::vector<Bytes> both = {one, other};
  for (const DType dtype : {DType::kInt64, DType::kFloat32, DType::kBytes}) {
    const FixedLenFeature op{.key = "a", .shape = {1}, .dtype = dtype};
    const Result<Array> first = decoded(op, Array::of_bytes(one), false);
    const Result<Array> second = decoded(op, Array::of_bytes(other), false);
    const Result<Array> together = decoded(op, Array::from(both), false);
    STOKER_CHECK(together.ok() == (first.ok() && second.ok()));
    if (!together) continue;
    const Arrays rows = {*first, *second};
    STOKER_CHECK(*stacked(rows) == *together);
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Bytes bytes(reinterpret_cast<const char*>(data), size);
  write_again(bytes);
  decode_all(Array::of_bytes(bytes));
  const size_t half = size == 0 ? 0 : static_cast<uint8_t>(bytes[0]) % size;  // two records, split anywhere
  const std::vector<Bytes> both = {bytes.substr(0, half), bytes.substr(half)};
  decode_all(Array::from(both));
  stack_both(both[0], both[1]);
  stack_both(bytes, bytes);
  return 0;
}
