#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct ResizeHow;

// Resizes an image, [height, width, channels], or a batch of images. The result is float32, except for nearest and
// Pillow's manner, which keep the type.
struct Resize {
  static constexpr std::string_view kName = "resize";
  static constexpr std::string_view kDoc = "Resize an image or a batch of images.";
  static constexpr int kInputs = 1;

  int64_t height = 0;
  int64_t width = 0;
  std::string method = "bilinear";
  bool preserve_aspect_ratio = false;
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("size", height, width, "height and width of the result in pixels");
    f("method", method, "bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic");
    f("preserve_aspect_ratio", preserve_aspect_ratio, "keep the aspect ratio; size is then the maximum");
    f("antialias", antialias, "widen the filter when the image becomes smaller");
    f("like", like,
      "\"pillow\": bit-identical to Pillow, uint8 and float32 keep their type, always antialiased; empty: as "
      "TensorFlow");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  Result<ResizeHow> how() const;
  // Replaces the size of an image by the size of the result.
  void size_of(int64_t& rows, int64_t& columns) const;
  Contribution contribution() const;
};

namespace image {

Value resize(Value image, Resize params);

}  // namespace image
}  // namespace stoker
