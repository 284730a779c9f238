#pragma once

#include <optional>

#include "stoker/graph/context.h"

namespace stoker {

// Returns the generator of a random operation. Without `seed`, its numbers belong to the element and the operation.
// With `seed`, they depend only on the seed and the element, so two operations with the same seed draw the same
// numbers.
inline Rng draws(const std::optional<int64_t>& seed, const Context& context) {
  if (!seed) return context.rng();
  const auto [hi, lo] = context.origin().key();
  return Rng(static_cast<uint64_t>(*seed), 0, hi, lo);
}

}  // namespace stoker
