#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct ResizeHow;

// A picture, [height, width, channels], or a batch of them in another size:
// float32 of any numbers, but of nearest and like Pillow the type they had.
struct Resize {
  static constexpr std::string_view kName = "resize";
  static constexpr std::string_view kDoc = "A picture, or a batch of pictures, in another size.";
  static constexpr int kInputs = 1;

  int64_t height = 0;
  int64_t width = 0;
  std::string method = "bilinear";
  bool preserve_aspect_ratio = false;
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("size", height, width, "height and width to give");
    f("method", method, "bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic");
    f("preserve_aspect_ratio", preserve_aspect_ratio,
      "whether size only bounds the result, which keeps its proportions");
    f("antialias", antialias, "whether the filter widens where the picture shrinks");
    f("like", like, "\"pillow\": its bits, uint8 or float32 as it came, always antialiased; empty: TensorFlow's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  Result<ResizeHow> how() const;
  // Of a picture of this size, the size to come.
  void size_of(int64_t& rows, int64_t& columns) const;
};

namespace image {

Value resize(Value picture, Resize params);

}  // namespace image
}  // namespace stoker
