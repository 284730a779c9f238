#pragma once

#include <vector>

#include "stoker/core/spec.h"
#include "stoker/graph/context.h"
#include "stoker/image/crop.h"

namespace stoker {

// Shared by random_crop and stateless_random_crop: a part of an array of numbers.

Result<LeafSpec> part_spec(const LeafSpec& input, const std::vector<int64_t>& size);
Result<void> check_part(const Array& from, const std::vector<int64_t>& size);

// `draw(n)` returns, for each axis, the start of the part among n positions.
template <typename Draw>
Result<Array> drawn_part(const Array& from, const std::vector<int64_t>& size, Context& context, Draw draw) {
  STOKER_TRY(check_part(from, size));
  std::vector<int64_t> offset;
  for (size_t i = 0; i < size.size(); ++i) offset.push_back(draw(from.shape()[i] - size[i] + 1));
  STOKER_TRY(Array out, context.result(size, from.type()));
  take_part(from, offset, out);
  return out;
}

}  // namespace stoker
