#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/nest.h"

namespace stoker {

// What is known of one component before it is made.
struct LeafSpec {
  std::optional<DType> type;
  std::optional<std::vector<int64_t>> shape;  // -1: a dim not known; nothing: not even the rank

  bool operator==(const LeafSpec&) const = default;
  std::string words() const;
};

// The types of an element before running; unknown behind a function that only
// its results can tell.
struct Spec {
  const Nest* nest = nullptr;  // null: unknown
  std::vector<LeafSpec> leaves;

  static Spec unknown() { return {}; }
  static Spec scalar(DType type) { return {Nest::leaf(), {{type, std::vector<int64_t>{}}}}; }
  static Spec of(const Array& array);

  bool known() const { return nest != nullptr; }
  bool operator==(const Spec&) const = default;
  std::string words() const;
};

// The spec that both fit: equal where they agree, unknown where they differ;
// nothing when structure or a type differs.
std::optional<Spec> common(const Spec& a, const Spec& b);

}  // namespace stoker
