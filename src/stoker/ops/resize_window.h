#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Resizes an image to fit a size, as tf.image.resize_with_pad does.
struct ResizeWithPad {
  static constexpr std::string_view kName = "resize_with_pad";
  static constexpr std::string_view kDoc =
      "Resize an image with its aspect ratio to fit a size, and pad it with zeros.";
  static constexpr int kInputs = 1;

  int64_t target_height = 0;
  int64_t target_width = 0;
  std::string method = "bilinear";
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("target_height", target_height, "height of the result in pixels");
    f.required("target_width", target_width, "width of the result in pixels");
    f("method", method, "as in resize");
    f("antialias", antialias, "as in resize");
    f("like", like, "as in resize");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: images, boxes of (y1, x1, y2, x2), and for each box the number of its image.
struct CropAndResize {
  static constexpr std::string_view kName = "crop_and_resize";
  static constexpr std::string_view kDoc = "Crop windows out of the images of a batch and resize them to one size.";
  static constexpr int kInputs = 3;

  int64_t height = 0;
  int64_t width = 0;
  std::string method = "bilinear";
  double extrapolation_value = 0;

  void describe(Fields& f) {
    f.required("crop_size", height, width, "height and width of the results in pixels");
    f("method", method, "bilinear or nearest");
    f("extrapolation_value", extrapolation_value, "value outside the image");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value resize_with_pad(Value image, ResizeWithPad params);
Value crop_and_resize(Value images, Value boxes, Value box_indices, CropAndResize params);

}  // namespace image
}  // namespace stoker
