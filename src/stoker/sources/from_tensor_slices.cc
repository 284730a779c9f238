#include "stoker/sources/from_tensor_slices.h"

namespace stoker {

Result<void> FromTensorSlices::check() const {
  if (tensors.leaves.empty()) return Error::invalid("expected at least one array, got none");
  for (size_t i = 0; i < tensors.leaves.size(); ++i) {
    const Array& leaf = tensors.leaves[i];
    const std::string path = tensors.nest->path_of(i);
    const std::string name = path.empty() ? "the array" : "component '" + path + "'";
    if (leaf.rank() == 0) return Error::invalid(name, " is a scalar, expected at least one axis");
    if (leaf.dim(0) != tensors.leaves[0].dim(0))
      return Error::invalid(name, " has ", leaf.dim(0), " rows, but the first component has ",
                            tensors.leaves[0].dim(0));
  }
  return {};
}

Result<Spec> FromTensorSlices::spec(std::span<const Spec>) const {
  Spec spec = tensors.spec();
  for (LeafSpec& leaf : spec.leaves) leaf.shape->erase(leaf.shape->begin());
  return spec;
}

Result<Element> FromTensorSlices::at(int64_t i, Context&) const {
  Element row;
  row.nest = tensors.nest;
  for (const Array& leaf : tensors.leaves) row.leaves.push_back(leaf.row(i));
  return row;
}

Result<Run> FromTensorSlices::fetch(std::span<const int64_t> positions, Context&) const {
  Run run;
  run.nest = tensors.nest;
  run.size = run_size(std::ssize(positions));
  bool consecutive = true;
  for (size_t i = 1; i < positions.size(); ++i) consecutive &= positions[i] == positions[i - 1] + 1;
  for (const Array& leaf : tensors.leaves) {
    if (consecutive) {
      run.columns.emplace_back(leaf.rows(positions[0], run.size));
      continue;
    }
    Arrays rows;
    rows.reserve(positions.size());
    for (int64_t position : positions) rows.push_back(leaf.row(position));
    run.columns.emplace_back(std::move(rows));
  }
  return run;
}

}  // namespace stoker
