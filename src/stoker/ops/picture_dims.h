#pragma once

#include "stoker/core/array.h"

namespace stoker {

// What operations on pictures take: [height, width, channels], or a batch of
// such with one dim before.

inline Result<void> check_picture(Dims dims) {
  if (dims.size() == 3 || dims.size() == 4) return {};
  return Error::invalid("a picture has 3 dims and a batch of pictures 4, found shape ", words_of(dims));
}

inline int64_t pictures_in(Dims dims) { return dims.size() == 4 ? dims[0] : 1; }

}  // namespace stoker
