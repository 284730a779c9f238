#include "stoker/transforms/unbatch.h"

#include <algorithm>

namespace stoker {
namespace {

// The parts of a sparse or ragged value have other rows than the value.
Result<void> check_dense(const Nest& nest, const std::string& path = "") {
  if (const std::string_view kind = nest.composite_kind(); !kind.empty())
    return Error::invalid(path.empty() ? "the element" : "component '" + path + "'", " is ", kind,
                          ", expected arrays; convert it in a map first, with ",
                          kind == "sparse" ? "to_dense()" : "to_tensor()");
  for (const auto& [name, part] : nest.fields()) {
    std::string inner = path;
    if (!inner.empty()) inner += '/';
    inner += name;
    STOKER_TRY(check_dense(*part, inner));
  }
  return {};
}

// Only an element without bytes can have more rows than memory has bytes. Their runs would fill the memory.
constexpr int64_t kMostRows = int64_t{1} << 40;

}  // namespace

Result<Spec> Unbatch::spec(std::span<const Spec> inputs) const {
  Spec spec = inputs[0];
  if (spec.known()) STOKER_TRY(check_dense(*spec.nest));
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
  if (Result<void> dense = check_dense(*element.nest); !dense) {
    out.put(Run::failure(std::move(dense).error(), origin));
    return Flow::kMore;
  }
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
  if (n > kMostRows) return Error::exhausted("expected an element of at most ", kMostRows, " rows, got ", n);
  const auto elements = static_cast<int32_t>(std::max<int64_t>(1, origin.elements / std::max<int64_t>(1, n)));
  for (int64_t first = 0; first < n; first += kMostRowsOfRun) {
    const int64_t count = std::min(n - first, kMostRowsOfRun);
    Run rows;
    rows.nest = element.nest;
    rows.size = run_size(count);
    rows.origins = Origins(0, 0, first, count);
    rows.origins.set_parent(parent);
    rows.origins.set_elements(elements);
    for (const Array& leaf : element.leaves) rows.columns.emplace_back(count == n ? leaf : leaf.rows(first, count));
    out.put(std::move(rows));
  }
  return Flow::kMore;
}

}  // namespace stoker
