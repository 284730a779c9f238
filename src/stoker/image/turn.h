#pragma once

#include "stoker/image/view.h"

namespace stoker {

// Fills `to`, whose height is the width of `from` and the other way round, with
// the picture mirrored along its main diagonal. They do not overlap.
void transpose_picture(const ImageView& from, const MutableImageView& to);

// Turned counterclockwise by `quarters` of 1, 2 or 3; `to` has the turned size.
void rotate_picture(const ImageView& from, int quarters, const MutableImageView& to);

}  // namespace stoker
