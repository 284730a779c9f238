#pragma once

#include <string>

#include "stoker/codecs/image.h"

namespace stoker {

struct PngOptions {
  int channels = 0;   // 0: as in the file, a palette as RGB or RGBA; 1: gray; 2: gray with alpha; 3: RGB; 4: RGBA
  int bit_depth = 8;  // of the decoded samples: 8 or 16
};

// Returns the size and channels that decode_png() produces. Reads the header, palette and
// transparency.
Result<ImageInfo> png_info(Bytes bytes, const PngOptions& options = {});

// Decodes into the rows that `place` returns. 16-bit samples have the machine's byte order.
// Transparency is kept if the result has alpha, and ignored otherwise. Colors become gray with
// libpng's weights. Gamma is not applied. Truncated data and wrong checksums are DataLoss.
Result<void> decode_png(Bytes bytes, const PngOptions& options, const PixelPlace& place);

// Encodes an image with 8 bits per sample, gray or RGB, and rows without gaps. `level` is zlib's, 0
// to 9. With the same version of zlib, the same image gives the same bytes.
Result<std::string> encode_png(const ImageInfo& info, const std::byte* pixels, int level = 6);

}  // namespace stoker
