#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct ResizeWithPad {
  static constexpr std::string_view kName = "resize_with_pad";
  static constexpr std::string_view kDoc =
      "A picture, or each of a batch, in its proportions inside a size; the rest is 0.";
  static constexpr int kInputs = 1;

  int64_t target_height = 0;
  int64_t target_width = 0;
  std::string method = "bilinear";
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("target_height", target_height, "rows to give");
    f.required("target_width", target_width, "columns to give");
    f("method", method, "as of resize");
    f("antialias", antialias, "as of resize");
    f("like", like, "as of resize");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: pictures, boxes of (y1, x1, y2, x2), and the picture of each box.
struct CropAndResize {
  static constexpr std::string_view kName = "crop_and_resize";
  static constexpr std::string_view kDoc = "Windows of the pictures of a batch, each in one size.";
  static constexpr int kInputs = 3;

  int64_t height = 0;
  int64_t width = 0;
  std::string method = "bilinear";
  double extrapolation_value = 0;

  void describe(Fields& f) {
    f.required("crop_size", height, width, "height and width to give");
    f("method", method, "bilinear or nearest");
    f("extrapolation_value", extrapolation_value, "what lies outside a picture");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value resize_with_pad(Value picture, ResizeWithPad params);
Value crop_and_resize(Value pictures, Value boxes, Value box_indices, CropAndResize params);

}  // namespace image
}  // namespace stoker
