#pragma once

#include "stoker/core/dtype.h"

namespace stoker {

// How a picture lies according to the EXIF notes in a JPEG, PNG or WebP, 1 to 8
// as EXIF counts: 1 is upright. Where there are none, or they make no sense, 1.
int exif_orientation(Bytes picture);

}  // namespace stoker
