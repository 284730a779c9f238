#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Properties of an encoded image, read from its header.

struct IsJpeg {
  static constexpr std::string_view kName = "is_jpeg";
  static constexpr std::string_view kDoc = "Return whether bytes start like a JPEG.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ExtractJpegShape {
  static constexpr std::string_view kName = "extract_jpeg_shape";
  static constexpr std::string_view kDoc = "Return height, width and channels of a JPEG without decoding it.";
  static constexpr int kInputs = 1;

  DType output_type = DType::kInt32;

  void describe(Fields& f) { f("output_type", output_type, "type of the result: int32 or int64"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ExtractShape {
  static constexpr std::string_view kName = "extract_shape";
  static constexpr std::string_view kDoc = "Return the shape of the result of decode_image without decoding the image.";
  static constexpr int kInputs = 1;

  DType output_type = DType::kInt32;
  bool expand_animations = true;
  bool exif_orientation = false;

  void describe(Fields& f) {
    f("output_type", output_type, "type of the result: int32 or int64");
    f("expand_animations", expand_animations, "as in decode_image");
    f("exif_orientation", exif_orientation, "as in decode_image");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace io {

Value is_jpeg(Value contents);
Value extract_jpeg_shape(Value contents, ExtractJpegShape params = {});
Value extract_shape(Value contents, ExtractShape params = {});

}  // namespace io
}  // namespace stoker
