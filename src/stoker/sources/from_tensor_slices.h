#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Yields the slices of every component along its first axis.
struct FromTensorSlices {
  static constexpr std::string_view kName = "from_tensor_slices";
  static constexpr std::string_view kDoc = "Yield the rows of arrays, one element per row.";

  Element tensors;

  void describe(Fields& f) { f.required_data("tensors", tensors, "arrays with the same length along axis 0"); }

  Result<std::string> fingerprint() const { return tensors.fingerprint(); }
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const { return tensors.leaves[0].dim(0); }
  Result<Element> at(int64_t i, Context&) const;
  Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
};

}  // namespace stoker
