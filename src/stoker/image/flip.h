#pragma once

#include "stoker/image/view.h"

namespace stoker {

// Fills `to`, of the same size and type, with the mirrored image. The two must not overlap.
void flip_left_right(ImageView from, MutableImageView to);
void flip_up_down(ImageView from, MutableImageView to);

}  // namespace stoker
