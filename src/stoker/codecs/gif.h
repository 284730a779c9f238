#pragma once

#include "stoker/codecs/image.h"

namespace stoker {

struct GifOptions {
  int channels = 0;                    // 0 and 3: RGB; 1: gray
  bool first_only = false;             // only the first frame, in the size of the whole animation
  bool try_recover_truncated = false;  // returns the frames before a truncated or damaged one
};

// Returns the size and number of frames that decode_gif() produces. Skips the pixels of all frames,
// but decodes them if `try_recover_truncated` is set.
Result<ImageInfo> gif_info(Bytes bytes, const GifOptions& options = {});

// Decodes into the rows that `place` returns. As in TensorFlow, the images have the size of the
// largest frame. Each frame is drawn over the previous one where its pixels are not transparent,
// and the first over black; disposal methods are ignored. A file without an end marker is DataLoss,
// even if its frames are complete.
Result<void> decode_gif(Bytes bytes, const GifOptions& options, const PixelPlace& place);

}  // namespace stoker
