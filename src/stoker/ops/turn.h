#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Rotation and transposition of images, [height, width, channels], or of each image of a batch.

struct Rot90 {
  static constexpr std::string_view kName = "rot90";
  static constexpr std::string_view kDoc =
      "Rotate an image, or each image of a batch, counterclockwise by multiples of 90 degrees.";
  static constexpr int kInputs = 1;

  int64_t k = 1;

  void describe(Fields& f) { f("k", k, "number of rotations by 90 degrees; negative: clockwise"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct TransposeImage {
  static constexpr std::string_view kName = "transpose_image";
  static constexpr std::string_view kDoc = "Transpose height and width of an image, or of each image of a batch.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value rot90(Value image, Rot90 params = {});
Value transpose_image(Value image);

}  // namespace image
}  // namespace stoker
