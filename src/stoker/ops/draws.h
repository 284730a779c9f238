#pragma once

#include <optional>

#include "stoker/graph/context.h"

namespace stoker {

// The numbers of an operation that draws: without `seed` the element's own, with
// it from seed and element alone, so that two operations of one seed draw alike.
inline Rng draws(const std::optional<int64_t>& seed, const Context& context) {
  if (!seed) return context.rng();
  const auto [hi, lo] = context.origin().key();
  return Rng(static_cast<uint64_t>(*seed), 0, hi, lo);
}

}  // namespace stoker
