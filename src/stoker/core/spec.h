#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/nest.h"

namespace stoker {

// What is known about one component before it is computed.
struct LeafSpec {
  std::optional<DType> type;
  std::optional<std::vector<int64_t>> shape;  // -1: an unknown dim; nothing: an unknown rank

  bool operator==(const LeafSpec&) const = default;
  std::string describe() const;
};

// The structure, types and shapes of an element before running. Unknown downstream of a function
// whose result types are not declared.
struct Spec {
  const Nest* nest = nullptr;  // null: unknown
  std::vector<LeafSpec> leaves;

  static Spec unknown() { return {}; }
  static Spec scalar(DType type) { return {Nest::leaf(), {{type, std::vector<int64_t>{}}}}; }
  static Spec of(const Array& array);

  bool known() const { return nest != nullptr; }
  bool operator==(const Spec&) const = default;
  std::string describe() const;
};

// The most specific spec that both match: types and shapes that one of them lacks, and dims that
// differ, are unknown. Nothing if the structures or two known types differ.
std::optional<Spec> common(const Spec& a, const Spec& b);

}  // namespace stoker
