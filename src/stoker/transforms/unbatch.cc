#include "stoker/transforms/unbatch.h"

#include <algorithm>

namespace stoker {

Result<Spec> Unbatch::spec(std::span<const Spec> inputs) const {
  Spec spec = inputs[0];
  std::optional<size_t> known;  // the first component with a known number of rows
  for (size_t i = 0; i < spec.leaves.size(); ++i) {
    LeafSpec& leaf = spec.leaves[i];
    if (!leaf.shape) continue;
    if (leaf.shape->empty()) return Error::invalid("component ", i, " is a scalar, expected at least one axis");
    const int64_t rows = leaf.shape->front();
    leaf.shape->erase(leaf.shape->begin());
    if (rows < 0) continue;
    if (!known) known = i;
    if (const int64_t first = inputs[0].leaves[*known].shape->front(); first != rows)
      return Error::invalid("component ", i, " has ", rows, " rows, but component ", *known, " has ", first);
  }
  return spec;
}

int64_t Unbatch::cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const {
  const int64_t batches = inputs[0];
  if (batches <= 0) return batches;
  for (const LeafSpec& leaf : specs[0].leaves) {
    if (!leaf.shape || leaf.shape->front() < 0) continue;
    const int64_t rows = leaf.shape->front();
    int64_t all = 0;
    return rows > 0 && !__builtin_mul_overflow(batches, rows, &all) && all < kEndless ? all : kUnknown;
  }
  return kUnknown;
}

Result<Flow> Unbatch::step(State&, Element element, Emit& out, Context& context) const {
  const Origin origin = context.origin();
  const auto parent = std::make_shared<const Origin>(origin);
  for (size_t i = 0; i < element.leaves.size(); ++i) {
    const Array& leaf = element.leaves[i];
    if (leaf.rank() > 0 && leaf.dim(0) == element.leaves[0].dim(0)) continue;
    out.put(Run::failure(leaf.rank() == 0 ? Error::invalid("component ", i, " is a scalar, expected at least one axis")
                                          : Error::invalid("component ", i, " has ", leaf.dim(0),
                                                           " rows, but component 0 has ", element.leaves[0].dim(0)),
                         origin));
    return Flow::kMore;
  }
  const int64_t n = element.leaves[0].dim(0);
  if (n == 0) return Flow::kMore;
  Run rows;
  rows.nest = element.nest;
  rows.size = static_cast<int32_t>(n);
  rows.origins = Origins(0, 0, 0, n);
  rows.origins.set_parent(parent);
  rows.origins.set_elements(static_cast<int32_t>(std::max<int64_t>(1, origin.elements / n)));
  for (Array& leaf : element.leaves) rows.columns.emplace_back(std::move(leaf));
  out.put(std::move(rows));
  return Flow::kMore;
}

}  // namespace stoker
