#include "stoker/transforms/batch.h"

#include <algorithm>
#include <limits>

namespace stoker {

namespace {

// The origin of the batch of these rows: that of the first one.
Origin origin_of_batch(const Run& rows, int32_t first, int64_t n) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  Origin origin = rows.origins.at(first);
  origin.elements = static_cast<int32_t>(std::min(rows.origins.elements_of(first, n), kMost));
  return origin;
}

// Returns a failure whose error and origin name the first row and the first row that differs from it in shape or type.
Run unequal(const Run& rows, size_t leaf) {
  const Array first = rows.columns[leaf].row(0);
  for (int32_t row = 1; row < rows.size; ++row) {
    const Array other = rows.columns[leaf].row(row);
    const bool same_type = other.type() == first.type();
    if (same_type && std::ranges::equal(other.shape(), first.shape())) continue;
    const std::string path = rows.nest->path_of(leaf);
    Origin both = origin_of_batch(rows, 0, rows.size);
    both.members = std::make_shared<const std::vector<Origin>>(std::vector{rows.origins.at(0), rows.origins.at(row)});
    return Run::failure(Error::invalid("cannot stack ", path.empty() ? "elements" : "component '" + path + "'",
                                       ": element ", rows.origins.at(0).describe(), " is ", name_of(first.type()),
                                       shape_text(first.shape()), " and element ", rows.origins.at(row).describe(),
                                       " is ", name_of(other.type()), shape_text(other.shape()), "; ",
                                       same_type ? "bring them to one shape before batch, for example with resize, or "
                                                   "with a map that crops or pads them"
                                                 : "convert them to one type before batch, for example with cast"),
                        std::move(both));
  }
  return Run::failure(Error::internal("a batch could not be stacked"), origin_of_batch(rows, 0, rows.size));
}

Run too_large(const Run& rows) {
  return Run::failure(
      Error::exhausted("expected a batch of at most ", kMostRowsOfRun, " elements, got more; use a smaller batch_size"),
      origin_of_batch(rows, 0, rows.size));
}

bool dense(const Run& run) { return std::ranges::all_of(run.columns, &Column::dense); }

void give(Run& open, Emit& out) {
  Run rows = std::exchange(open, Run());
  const Origin origin = origin_of_batch(rows, 0, rows.size);
  Element batch;
  batch.nest = rows.nest;
  for (size_t leaf = 0; leaf < rows.columns.size(); ++leaf) {
    if (Result<void> dense = rows.columns[leaf].make_dense(); !dense) {
      const bool differ = dense.error().code() == Code::kInvalidArgument;
      return out.put(differ ? unequal(rows, leaf) : Run::failure(dense.error(), origin));
    }
    batch.leaves.push_back(rows.columns[leaf].block());
  }
  out.put(Run::of(std::move(batch), origin));
}

}  // namespace

Result<Spec> Batch::spec(std::span<const Spec> inputs) const {
  Spec spec = inputs[0];
  for (LeafSpec& leaf : spec.leaves)
    if (leaf.shape) leaf.shape->insert(leaf.shape->begin(), drop_remainder ? batch_size : -1);
  return spec;
}

int64_t Batch::cardinality(std::span<const int64_t> inputs) const {
  const int64_t n = inputs[0];
  if (n < 0) return n;
  return n / batch_size + (!drop_remainder && n % batch_size != 0);
}

Result<Flow> Batch::step(State& state, Run run, Emit& out, Context&) const {
  auto failure = run.failed.begin();
  for (int32_t row = 0; row < run.size;) {
    if (failure != run.failed.end() && failure->row == row) {
      out.put(Run::failure(failure++->error, run.origins.at(row++), true));
      continue;
    }
    const int32_t good = (failure == run.failed.end() ? run.size : failure->row) - row;
    if (const int64_t whole = state.open.size > 0 || !dense(run) ? 0 : good / batch_size; whole > 1) {
      out.put(stacked(run, row, whole));
      row += static_cast<int32_t>(whole * batch_size);
      continue;
    }
    if (state.open.size == kMostRowsOfRun) out.put(too_large(std::exchange(state.open, Run())));
    const int64_t most = std::min(batch_size, kMostRowsOfRun) - state.open.size;
    const auto n = static_cast<int32_t>(std::min<int64_t>(good, most));
    state.open.append(run.slice(row, n));
    if (state.open.size == batch_size) give(state.open, out);
    row += n;
  }
  return Flow::kMore;
}

// Rows that are adjacent in memory form several batches without a copy: the same memory with one more axis.
Run Batch::stacked(const Run& run, int32_t first, int64_t batches) const {
  Run all;
  all.nest = run.nest;
  all.size = run_size(batches);
  for (const Column& column : run.columns) {
    const Array rows = column.block().rows(first, batches * batch_size);
    std::vector<int64_t> dims{batches, batch_size};
    dims.insert(dims.end(), rows.shape().begin() + 1, rows.shape().end());
    all.columns.emplace_back(rows.reshaped(dims));
  }
  for (int64_t i = 0; i < batches; ++i)
    all.origins.append(origin_of_batch(run, first + static_cast<int32_t>(i * batch_size), batch_size));
  return all;
}

Result<Flow> Batch::finish(State& state, Emit& out, Context&) const {
  if (state.open.size > 0 && !drop_remainder) give(state.open, out);
  return Flow::kDone;
}

}  // namespace stoker
