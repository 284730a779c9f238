#include "stoker/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/ops/call.h"
#include "stoker/ops/picture_dims.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

// The size inside params' that keeps the proportions, computed as TensorFlow does.
void keep_proportions(const Resize& params, int64_t& height, int64_t& width) {
  const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
  const float scale = std::min(static_cast<float>(params.height) / rows, static_cast<float>(params.width) / columns);
  height = static_cast<int64_t>(std::nearbyint(scale * rows));
  width = static_cast<int64_t>(std::nearbyint(scale * columns));
}

// The dims of the result; -1 is not known.
std::vector<int64_t> resized_dims(const Resize& params, Dims dims) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  int64_t& height = result[dims.size() - 3];
  int64_t& width = result[dims.size() - 2];
  if (params.preserve_aspect_ratio && (height <= 0 || width <= 0))
    height = width = -1;
  else
    params.size_of(height, width);
  return result;
}

}  // namespace

Result<ResizeHow> Resize::how() const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  if (height < 1 || width < 1) return Error::invalid("size is at least 1x1, found ", height, "x", width);
  return how;
}

void Resize::size_of(int64_t& rows, int64_t& columns) const {
  if (preserve_aspect_ratio) return keep_proportions(*this, rows, columns);
  rows = height;
  columns = width;
}

Result<LeafSpec> Resize::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(ResizeHow how, this->how());
  LeafSpec spec;
  if (inputs[0].type) {
    STOKER_TRY(spec.type, resized_type(*inputs[0].type, how));
  }
  if (inputs[0].shape) {
    STOKER_TRY(check_picture(*inputs[0].shape));
    spec.shape = resized_dims(*this, *inputs[0].shape);
  }
  return spec;
}

Result<Array> Resize::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(ResizeHow how, this->how());
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(DType type, resized_type(from.type(), how));
  if (from.dim(from.rank() - 3) == 0 || from.dim(from.rank() - 2) == 0)
    return Error::invalid("a picture without pixels cannot be resized, found shape ", words_of(from.dims()));
  STOKER_TRY(Array out, context.result(resized_dims(*this, from.dims()), type));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    STOKER_TRY(resize_picture(picture_of(from, i), picture_of(out, i), how));
  }
  return out;
}

namespace image {

Value resize(Value picture, Resize params) { return call(std::move(params), {std::move(picture)}); }

}  // namespace image
}  // namespace stoker
