#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// What the header of a picture's bytes tells.

struct IsJpeg {
  static constexpr std::string_view kName = "is_jpeg";
  static constexpr std::string_view kDoc = "Whether bytes begin as a JPEG does.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ExtractJpegShape {
  static constexpr std::string_view kName = "extract_jpeg_shape";
  static constexpr std::string_view kDoc = "Height, width and channels of a JPEG, without decoding it.";
  static constexpr int kInputs = 1;

  DType output_type = DType::kInt32;

  void describe(Fields& f) { f("output_type", output_type, "int32 or int64"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ExtractShape {
  static constexpr std::string_view kName = "extract_shape";
  static constexpr std::string_view kDoc =
      "The shape that decode_image gives the picture in bytes of any format, without decoding it.";
  static constexpr int kInputs = 1;

  DType output_type = DType::kInt32;
  bool expand_animations = true;
  bool exif_orientation = false;

  void describe(Fields& f) {
    f("output_type", output_type, "int32 or int64");
    f("expand_animations", expand_animations, "as given to decode_image");
    f("exif_orientation", exif_orientation, "as given to decode_image");
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
