#pragma once

#include "stoker/image/view.h"

namespace stoker {

// Fills `to`, whose height is the width of `from` and vice versa, with the image transposed. The
// two must not overlap.
void transpose_pixels(const ImageView& from, const MutableImageView& to);

// Rotates counterclockwise by `quarters` quarter turns: 1, 2 or 3. `to` has the rotated size.
void rotate_image(const ImageView& from, int quarters, const MutableImageView& to);

}  // namespace stoker
