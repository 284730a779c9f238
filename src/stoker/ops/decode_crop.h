#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct DecodeAndCropJpeg {
  static constexpr std::string_view kName = "decode_and_crop_jpeg";
  static constexpr std::string_view kDoc =
      "A window of the picture in the bytes of a JPEG: the pixels of decoding it and cutting, for less work. The "
      "second "
      "input is [row, column, height, width].";
  static constexpr int kInputs = 2;

  int channels = 0;
  int ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method;
  std::string like;

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 3: RGB");
    f("ratio", ratio, "1, 2, 4 or 8: so many times smaller, before it is cut");
    f("fancy_upscaling", fancy_upscaling, "smooth colours that were stored with fewer samples");
    f("try_recover_truncated", try_recover_truncated, "what is missing is grey, and no error");
    f("acceptable_fraction", acceptable_fraction,
      "share of the rows after which a cut picture is taken, the rest black");
    f("dct_method", dct_method, "INTEGER_FAST or INTEGER_ACCURATE; empty: fast, or as `like` says");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace io {

Value decode_and_crop_jpeg(Value contents, Value crop_window, DecodeAndCropJpeg params = {});

}  // namespace io
}  // namespace stoker
