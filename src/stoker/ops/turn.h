#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct Rot90 {
  static constexpr std::string_view kName = "rot90";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, turned counterclockwise by quarters.";
  static constexpr int kInputs = 1;

  int64_t k = 1;

  void describe(Fields& f) { f("k", k, "how many quarters; negative: clockwise"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct TransposeImage {
  static constexpr std::string_view kName = "transpose_image";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored along its main diagonal.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value rot90(Value picture, Rot90 params = {});
Value transpose_image(Value picture);

}  // namespace image
}  // namespace stoker
