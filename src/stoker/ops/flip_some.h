#pragma once

#include "stoker/core/spec.h"
#include "stoker/graph/context.h"
#include "stoker/image/crop.h"
#include "stoker/image/view.h"
#include "stoker/ops/image_dims.h"

namespace stoker {

// Shared by random_flip_* and stateless_random_flip_*.

inline Result<void> check_flip(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected an image of numbers, got ", name_of(type));
}

inline Result<LeafSpec> flip_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_flip(*input.type));
  if (input.shape) STOKER_TRY(check_image(*input.shape));
  return input;
}

// Calls `wanted()` for each image, in order, and flips the image with `flip(from, to)` if it returns true.
template <typename Wanted, typename Flip>
Result<Array> flip_some(const Array& from, Context& context, Wanted wanted, Flip flip) {
  STOKER_TRY(check_flip(from.type()));
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    const ImageView image = image_view(from, i);
    if (wanted())
      flip(image, image_view(out, i));
    else
      take_window(image, {0, 0, image.height, image.width}, image_view(out, i));
  }
  return out;
}

}  // namespace stoker
