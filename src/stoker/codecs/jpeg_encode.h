#pragma once

#include <string>

#include "stoker/codecs/picture.h"

namespace stoker {

struct JpegEncodeOptions {
  int quality = 95;                 // 0 to 100
  bool chroma_downsampling = true;  // half the samples of colour in both directions
};

// A baseline JPEG of 8-bit samples with 1 or 3 channels, grey or RGB: the
// bytes that TensorFlow's encoder gives.
Result<std::string> encode_jpeg(const PictureInfo& info, const std::byte* pixels, int64_t stride,
                                const JpegEncodeOptions& options = {});

}  // namespace stoker
