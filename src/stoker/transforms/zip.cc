#include "stoker/transforms/zip.h"

#include <algorithm>

namespace stoker {

Result<Spec> Zip::spec(std::span<const Spec> inputs) const {
  Spec spec;
  std::vector<const Nest*> nests;
  for (const Spec& input : inputs) {
    if (!input.known()) return Spec::unknown();
    nests.push_back(input.nest);
    spec.leaves.insert(spec.leaves.end(), input.leaves.begin(), input.leaves.end());
  }
  spec.nest = Nest::tuple(std::move(nests));
  return spec;
}

int64_t Zip::cardinality(std::span<const int64_t> inputs) const {
  if (std::ranges::count(inputs, kUnknown) > 0) return kUnknown;
  int64_t least = kInfinite;
  for (int64_t n : inputs)
    if (n >= 0) least = least == kInfinite ? n : std::min(least, n);
  return least;
}

}  // namespace stoker
