#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Yields a single element: the given value.
struct FromTensors {
  static constexpr std::string_view kName = "from_tensors";
  static constexpr std::string_view kDoc = "Yield a single element.";

  Element tensors;

  void describe(Fields& f) { f.required_data("tensors", tensors, "element to yield"); }

  Result<std::string> fingerprint() const { return tensors.fingerprint(); }
  Result<void> check() const {
    if (tensors.leaves.empty()) return Error::invalid("tensors has no components, expected at least one array");
    return {};
  }
  Result<Spec> spec(std::span<const Spec>) const { return tensors.spec(); }
  Result<int64_t> length(Context&) const { return 1; }
  Result<Element> at(int64_t, Context&) const { return tensors; }
};

}  // namespace stoker
