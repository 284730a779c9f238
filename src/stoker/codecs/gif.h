#pragma once

#include "stoker/codecs/picture.h"

namespace stoker {

struct GifOptions {
  int channels = 0;                    // 0 and 3: RGB; 1: grey
  bool first_only = false;             // the first frame, as large as in the whole animation
  bool try_recover_truncated = false;  // the frames before the one that is cut or damaged
};

// What decode_gif() would give. Hops over the pixels of all frames; where some
// are to be recovered it decodes them.
Result<PictureInfo> gif_info(Bytes bytes, const GifOptions& options = {});

// Decodes into the rows that `place` gives. As in TensorFlow the pictures are as
// large as the largest frame; each frame is drawn over the one before, wherever
// its pixels are not transparent, and the first over black. How a frame is to be
// disposed of is not looked at. A file without its end is DataLoss, also when
// its frames are whole.
Result<void> decode_gif(Bytes bytes, const GifOptions& options, const PixelPlace& place);

}  // namespace stoker
