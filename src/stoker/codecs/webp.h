#pragma once

#include "stoker/codecs/image.h"

namespace stoker {

struct WebpOptions {
  int channels = 0;         // 0: RGB, or RGBA if the file has alpha; 1: gray; 3: RGB; 4: RGBA
  bool first_only = false;  // only the first frame of an animation
};

// Returns the size, channels and number of frames that decode_webp() produces. Reads only headers.
// A still image has one frame.
Result<ImageInfo> webp_info(Bytes bytes, const WebpOptions& options = {});

// Decodes into the rows that `place` returns. The frames of an animation are drawn over each other
// as the file specifies, the first over a transparent canvas. If the result has no alpha, alpha is
// dropped, and transparent pixels of the canvas are black. Truncated data is DataLoss.
Result<void> decode_webp(Bytes bytes, const WebpOptions& options, const PixelPlace& place);

}  // namespace stoker
