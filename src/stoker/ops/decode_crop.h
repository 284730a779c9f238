#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Decodes only as much of a JPEG as a window needs.
struct DecodeAndCropJpeg {
  static constexpr std::string_view kName = "decode_and_crop_jpeg";
  static constexpr std::string_view kDoc =
      "Decode a window of a JPEG image: the same pixels as decoding and cropping, in less time. The second input is "
      "[row, column, height, width].";
  static constexpr int kInputs = 2;

  int channels = 0;
  int ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method;
  std::string like;

  void describe(Fields& f) {
    f("channels", channels, "number of channels; 0: as in the file, 1: gray, 3: RGB");
    f("ratio", ratio, "divides height and width by 1, 2, 4 or 8 before the crop");
    f("fancy_upscaling", fancy_upscaling, "interpolate subsampled color channels");
    f("try_recover_truncated", try_recover_truncated, "decode truncated files; missing pixels are gray");
    f("acceptable_fraction", acceptable_fraction,
      "minimum fraction of rows of a truncated image that is accepted; missing rows are black");
    f("dct_method", dct_method,
      "INTEGER_FAST or INTEGER_ACCURATE; empty: INTEGER_FAST, or INTEGER_ACCURATE with like=\"pillow\"");
    f("like", like, "\"pillow\": the pixels of Pillow; empty: those of TensorFlow");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace io {

Value decode_and_crop_jpeg(Value contents, Value crop_window, DecodeAndCropJpeg params = {});

}  // namespace io
}  // namespace stoker
