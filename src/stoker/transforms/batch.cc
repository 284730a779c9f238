#include "stoker/transforms/batch.h"

namespace stoker {

namespace {

// Names the two elements whose shapes or types do not fit together.
Error unequal(const Run& rows, size_t leaf) {
  const Array first = rows.columns[leaf].row(0);
  for (int32_t row = 1; row < rows.size; ++row) {
    const Array other = rows.columns[leaf].row(row);
    if (other.type() == first.type() && std::ranges::equal(other.dims(), first.dims())) continue;
    const std::string path = rows.nest->path_of(leaf);
    return Error::invalid("cannot stack ", path.empty() ? "elements" : "component '" + path + "'", ": element ",
                          rows.origins.at(0).words(), " is ", name_of(first.type()), words_of(first.dims()),
                          " and element ", rows.origins.at(row).words(), " is ", name_of(other.type()),
                          words_of(other.dims()));
  }
  return Error::internal("a batch could not be stacked");
}

void give(Run& open, Emit& out) {
  Run rows = std::exchange(open, Run());
  const Origin origin = rows.origins.at(0);
  Element batch;
  batch.nest = rows.nest;
  for (size_t leaf = 0; leaf < rows.columns.size(); ++leaf) {
    if (Result<void> dense = rows.columns[leaf].make_dense(); !dense) {
      const bool room = dense.error().code() == Code::kResourceExhausted;
      return out.put(Run::failure(room ? dense.error() : unequal(rows, leaf), origin));
    }
    batch.leaves.push_back(rows.columns[leaf].block());
  }
  out.put(std::move(batch), origin);
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
  if (!run.failed.empty()) {
    std::vector<int32_t> good;
    for (int32_t row = 0; row < run.size; ++row) {
      if (const Failure* failure = run.failure_of(row))
        out.put(Run::failure(failure->error, run.origins.at(row), true));
      else
        good.push_back(row);
    }
    if (good.empty()) return Flow::kMore;
    run = run.select(good);
  }
  state.open.append(std::move(run));
  if (state.open.size == batch_size) give(state.open, out);
  return Flow::kMore;
}

Result<Flow> Batch::finish(State& state, Emit& out, Context&) const {
  if (state.open.size > 0 && !drop_remainder) give(state.open, out);
  return Flow::kDone;
}

}  // namespace stoker
