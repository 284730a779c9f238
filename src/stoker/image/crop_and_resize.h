#pragma once

#include <span>

#include "stoker/image/view.h"

namespace stoker {

// tf.image.crop_and_resize of one box (y1, x1, y2, x2), where 1 is the last row or column. A box
// with y1 > y2 or x1 > x2 gives a mirrored result. Values outside `from` are `outside`. `to` is
// float32.
void crop_and_resize(const ImageView& from, std::span<const float, 4> box, bool nearest, float outside,
                     const MutableImageView& to);

}  // namespace stoker
