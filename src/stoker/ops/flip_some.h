#pragma once

#include "stoker/core/spec.h"
#include "stoker/graph/context.h"
#include "stoker/image/crop.h"
#include "stoker/image/view.h"
#include "stoker/ops/picture_dims.h"

namespace stoker {

// What random_flip_* and stateless_random_flip_* share.

inline Result<void> check_flip(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("a picture has numbers, found ", name_of(type));
}

inline Result<LeafSpec> flip_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_flip(*input.type));
  if (input.shape) STOKER_TRY(check_picture(*input.shape));
  return input;
}

// Each picture flipped by `flip(from, to)` where `wanted()` says so, in order.
template <typename Wanted, typename Flip>
Result<Array> flip_some(const Array& from, Context& context, Wanted wanted, Flip flip) {
  STOKER_TRY(check_flip(from.type()));
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(Array out, context.result(from.dims(), from.type()));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    const ImageView picture = picture_of(from, i);
    if (wanted())
      flip(picture, picture_of(out, i));
    else
      take_window(picture, {0, 0, picture.height, picture.width}, picture_of(out, i));
  }
  return out;
}

}  // namespace stoker
