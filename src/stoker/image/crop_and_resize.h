#pragma once

#include <span>

#include "stoker/image/view.h"

namespace stoker {

// tf.image.crop_and_resize of one box, (y1, x1, y2, x2) with 1 for the last row
// and column; it may lie the other way round. What lies outside `from` is
// `outside`. `to` is float32.
void crop_and_resize(const ImageView& from, std::span<const float, 4> box, bool nearest, float outside,
                     const MutableImageView& to);

}  // namespace stoker
