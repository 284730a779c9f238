#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

using enum DType;  // cast(x, kFloat32)

// The same values in another type; see ops/convert.h for what does not fit.
struct Cast {
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kDoc = "The same values in another type.";
  static constexpr int kInputs = 1;

  DType dtype = DType::kFloat32;

  void describe(Fields& f) { f.required("dtype", dtype, "the type to give; floats lose their fraction in integers"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
};

Value cast(Value value, DType dtype);

}  // namespace stoker
