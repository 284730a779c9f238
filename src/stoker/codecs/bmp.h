#pragma once

#include "stoker/codecs/image.h"

namespace stoker {

struct BmpOptions {
  // 0: as in the file: a palette of grays gives gray, other palettes RGB, and 32 bits RGBA unless
  // the header declares that there is no alpha; 1: gray; 3: RGB; 4: RGBA
  int channels = 0;
};

// Returns the size and channels that decode_bmp() produces. Reads only the header and the palette.
Result<ImageInfo> bmp_info(Bytes bytes, const BmpOptions& options = {});

// Decodes a BMP of Windows or OS/2 with 1, 4, 8, 16, 24 or 32 bits per pixel, also run-length
// encoded, into the rows that `place` returns. Applies the palette; an index outside of it is
// black. Truncated data is DataLoss. Bytes after the last pixel are ignored.
Result<void> decode_bmp(Bytes bytes, const BmpOptions& options, const PixelPlace& place);

}  // namespace stoker
