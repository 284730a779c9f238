#pragma once

#include "stoker/codecs/picture.h"

namespace stoker {

struct WebpOptions {
  int channels = 0;         // 0: RGB, or RGBA where the file has alpha; 1: grey; 3: RGB; 4: RGBA
  bool first_only = false;  // of an animation, the first frame
};

// What decode_webp() would give; reads headers alone. A still picture has one frame.
Result<PictureInfo> webp_info(Bytes bytes, const WebpOptions& options = {});

// Decodes into the rows that `place` gives. Frames of an animation are drawn
// over one another as the file says, over nothing at the beginning; without
// alpha that is left out, and nothing is black. What is cut is DataLoss.
Result<void> decode_webp(Bytes bytes, const WebpOptions& options, const PixelPlace& place);

}  // namespace stoker
