#pragma once

#include "stoker/core/array.h"

namespace stoker {

// The shapes that operations on images accept: [height, width, channels], or a batch with one more axis in front.

inline Result<void> check_image(Dims dims) {
  if (dims.size() == 3 || dims.size() == 4) return {};
  return Error::invalid("expected an image of shape [height, width, channels] or a batch of images, got shape ",
                        shape_text(dims));
}

inline int64_t images_in(Dims dims) { return dims.size() == 4 ? dims[0] : 1; }

}  // namespace stoker
