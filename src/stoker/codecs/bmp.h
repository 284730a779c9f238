#pragma once

#include "stoker/codecs/picture.h"

namespace stoker {

struct BmpOptions {
  // 0: as in the file, where a palette of greys gives grey, another one RGB, and
  // 32 bits RGBA unless the header says that there is no alpha; 1: grey; 3: RGB;
  // 4: with alpha
  int channels = 0;
};

// What decode_bmp() would give; reads header and palette.
Result<PictureInfo> bmp_info(Bytes bytes, const BmpOptions& options = {});

// Decodes 1, 4, 8, 16, 24 and 32 bits a pixel, also run-length encoded, of
// Windows and OS/2, into the rows that `place` gives. A palette is applied; an
// index outside of it is black. What is cut is DataLoss; bytes after the last
// pixel do not matter.
Result<void> decode_bmp(Bytes bytes, const BmpOptions& options, const PixelPlace& place);

}  // namespace stoker
