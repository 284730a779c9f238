#pragma once

#include <string>

#include "stoker/codecs/image.h"

namespace stoker {

struct JpegEncodeOptions {
  int quality = 95;                 // 0 to 100
  bool chroma_downsampling = true;  // halves the chroma resolution in both directions
};

// Encodes 8-bit samples with 1 or 3 channels, gray or RGB, as a baseline JPEG. Produces the same
// bytes as TensorFlow's encoder. Fails with InvalidArgument for other channels, sizes or qualities.
Result<std::string> encode_jpeg(const ImageInfo& info, const std::byte* pixels, int64_t stride,
                                const JpegEncodeOptions& options = {});

}  // namespace stoker
