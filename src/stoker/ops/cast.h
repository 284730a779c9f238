#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

using enum DType;  // cast(x, kFloat32)

// Converts values to another type. ops/convert.h defines the result for values that do not fit.
struct Cast {
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kDoc = "Convert values to another type.";
  static constexpr int kInputs = 1;

  DType dtype = DType::kFloat32;

  void describe(Fields& f) {
    f.required("dtype", dtype, "type of the result; floats that become integers are truncated");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const;
  Contribution contribution() const;
};

Value cast(Value value, DType dtype);

}  // namespace stoker
