#include "stoker/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/ops/call.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/image_steps.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

// Sets the largest size within the parameters that keeps the aspect ratio, computed as in TensorFlow.
void keep_proportions(const Resize& params, int64_t& height, int64_t& width) {
  const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
  const float scale = std::min(static_cast<float>(params.height) / rows, static_cast<float>(params.width) / columns);
  height = static_cast<int64_t>(std::nearbyint(scale * rows));
  width = static_cast<int64_t>(std::nearbyint(scale * columns));
}

// Returns the dims of the result; -1 is unknown.
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
  if (height < 1 || width < 1) return Error::invalid("size must be at least 1x1, got ", height, "x", width);
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
    STOKER_TRY(check_image(*inputs[0].shape));
    spec.shape = resized_dims(*this, *inputs[0].shape);
  }
  return spec;
}

Result<Array> Resize::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(ResizeHow how, this->how());
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(DType type, resized_type(from.type(), how));
  if (from.dim(from.rank() - 3) == 0 || from.dim(from.rank() - 2) == 0)
    return Error::invalid("an image without pixels cannot be resized, got shape ", shape_text(from.shape()));
  STOKER_TRY(Array out, context.result(resized_dims(*this, from.shape()), type));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    STOKER_TRY(resize_image(image_view(from, i), image_view(out, i), how));
  }
  return out;
}

Contribution Resize::contribution() const {
  const Result<ResizeHow> how = this->how();
  if (!how) return {};
  const auto resized_size = [op = *this](ImageSize from) -> Result<ImageSize> {
    op.size_of(from.height, from.width);
    return from;
  };
  return Contribution::of(ResizeStep{*how, resized_size, {}});
}

namespace image {

Value resize(Value image, Resize params) { return call(std::move(params), {std::move(image)}); }

}  // namespace image
}  // namespace stoker
