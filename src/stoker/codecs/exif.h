#pragma once

#include "stoker/core/dtype.h"

namespace stoker {

// The orientation in the EXIF metadata of a JPEG, PNG or WebP, 1 to 8 as EXIF defines it; 1 is
// upright. Returns 1 if there is no metadata or it is invalid.
int exif_orientation(Bytes image);

}  // namespace stoker
