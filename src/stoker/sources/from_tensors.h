#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// One element: the value itself.
struct FromTensors {
  static constexpr std::string_view kName = "from_tensors";
  static constexpr std::string_view kDoc = "One element, as given.";

  Element tensors;

  void describe(Fields& f) { f.required("tensors", tensors, "the element"); }

  Result<std::string> fingerprint() const { return tensors.fingerprint(); }
  Result<void> check() const {
    if (tensors.leaves.empty()) return Error::invalid("an element without components was given");
    return {};
  }
  Result<Spec> spec(std::span<const Spec>) const { return tensors.spec(); }
  Result<int64_t> length(Context&) const { return 1; }
  Result<Element> at(int64_t, Context&) const { return tensors; }
};

}  // namespace stoker
