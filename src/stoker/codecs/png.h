#pragma once

#include <string>

#include "stoker/codecs/picture.h"

namespace stoker {

struct PngOptions {
  int channels = 0;  // 0: as in the file, a palette becoming RGB or RGBA; 1: grey, 2: with alpha, 3: RGB, 4: with alpha
  int bit_depth = 8;  // 8 or 16: of the samples that are given
};

// What decode_png() would give; reads the header, palette and transparency.
Result<PictureInfo> png_info(Bytes bytes, const PngOptions& options = {});

// Decodes into the rows that `place` gives; 16-bit samples in the machine's
// order. Transparency is kept where alpha is wanted and left out elsewhere;
// colours become grey by libpng's weights; gamma is not applied. What is cut, or
// whose checksums are wrong, is DataLoss.
Result<void> decode_png(Bytes bytes, const PngOptions& options, const PixelPlace& place);

// 8 bits, grey or RGB, rows without gaps; `level` is zlib's, 0 to 9. The same
// picture gives the same bytes for one version of zlib.
Result<std::string> encode_png(const PictureInfo& info, const std::byte* pixels, int level = 6);

}  // namespace stoker
