#include "stoker/ops/resize_window.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "stoker/image/crop_and_resize.h"
#include "stoker/image/resize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

constexpr int64_t kLongestSide = std::numeric_limits<int32_t>::max();

Result<void> check_size(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1 && height <= kLongestSide && width <= kLongestSide) return {};
  return Error::invalid("height and width must be 1 to ", kLongestSide, ", got ", height, "x", width);
}

// ---- resize_with_pad

// The position of the image in the result, computed as in TensorFlow.
struct Place {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

Result<Place> place_in(const ResizeWithPad& to, int64_t height, int64_t width) {
  const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
  const auto to_rows = static_cast<float>(to.target_height), to_columns = static_cast<float>(to.target_width);
  const float ratio = std::max(columns / to_columns, rows / to_rows);
  const float made_rows = rows / ratio, made_columns = columns / ratio;
  const auto before = [](float all, float made) {
    return std::max<int64_t>(0, static_cast<int64_t>(std::floor((all - made) / 2)));
  };
  const Place place{before(to_rows, made_rows), before(to_columns, made_columns),
                    static_cast<int64_t>(std::floor(made_rows)), static_cast<int64_t>(std::floor(made_columns))};
  if (place.height >= 1 && place.width >= 1 && place.top + place.height <= to.target_height &&
      place.left + place.width <= to.target_width)
    return place;
  return Error::invalid("an image of ", height, "x", width, " with its aspect ratio has no pixels in a result of ",
                        to.target_height, "x", to.target_width);
}

MutableImageView window_of(const MutableImageView& image, const Place& place) {
  MutableImageView view = image;
  const auto pixel = image.channels * static_cast<int64_t>(size_of(image.type));
  view.data = image.row<std::byte>(place.top) + place.left * pixel;
  view.height = place.height;
  view.width = place.width;
  return view;
}

// ---- crop_and_resize

Result<bool> is_nearest(const CropAndResize& op) {
  if (op.method == "nearest") return true;
  if (op.method == "bilinear") return false;
  return Error::invalid("method must be bilinear or nearest, got '", op.method, "'");
}

Result<void> check_inputs(const LeafSpec& images, const LeafSpec& boxes, const LeafSpec& indices) {
  if (images.type && (*images.type == DType::kBytes || *images.type == DType::kBool))
    return Error::invalid("expected an image of numbers, got ", name_of(*images.type));
  if (images.shape && images.shape->size() != 4)
    return Error::invalid("expected a batch of images with 4 axes, got shape ", shape_text(*images.shape));
  if (boxes.type && *boxes.type != DType::kFloat32)
    return Error::invalid("boxes must be float32, got ", name_of(*boxes.type));
  if (boxes.shape && (boxes.shape->size() != 2 || (boxes.shape->back() >= 0 && boxes.shape->back() != 4)))
    return Error::invalid("boxes must have shape [boxes, 4], got ", shape_text(*boxes.shape));
  if (indices.type && *indices.type != DType::kInt32 && *indices.type != DType::kInt64)
    return Error::invalid("box_indices must be int32, got ", name_of(*indices.type));
  if (indices.shape && indices.shape->size() != 1)
    return Error::invalid("box_indices must have shape [boxes], got ", shape_text(*indices.shape));
  return {};
}

LeafSpec spec_of(const Array& array) {
  return {array.type(), std::vector<int64_t>(array.shape().begin(), array.shape().end())};
}

int64_t index_at(const Array& indices, size_t i) {
  return indices.type() == DType::kInt64 ? indices.values<int64_t>()[i] : indices.values<int32_t>()[i];
}

}  // namespace

Result<LeafSpec> ResizeWithPad::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(target_height, target_width));
  LeafSpec spec = inputs[0];
  if (spec.type) {
    STOKER_TRY(spec.type, resized_type(*spec.type, how));
  }
  if (!spec.shape) return spec;
  STOKER_TRY(check_image(*spec.shape));
  (*spec.shape)[spec.shape->size() - 3] = target_height;
  (*spec.shape)[spec.shape->size() - 2] = target_width;
  return spec;
}

Result<Array> ResizeWithPad::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(target_height, target_width));
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(const DType type, resized_type(from.type(), how));
  const int64_t height = from.dim(from.rank() - 3), width = from.dim(from.rank() - 2);
  if (height == 0 || width == 0)
    return Error::invalid("an image without pixels cannot be resized, got shape ", shape_text(from.shape()));
  STOKER_TRY(const Place place, place_in(*this, height, width));
  std::vector<int64_t> dims(from.shape().begin(), from.shape().end());
  dims[dims.size() - 3] = target_height;
  dims[dims.size() - 2] = target_width;
  STOKER_TRY(Array out, context.result(dims, type));
  if (out.count() == 0) return out;
  std::memset(out.mutable_raw(), 0, static_cast<size_t>(out.byte_size()));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    STOKER_TRY(resize_image(image_view(from, i), window_of(image_view(out, i), place), how));
  }
  return out;
}

Result<LeafSpec> CropAndResize::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(is_nearest(*this));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(check_inputs(inputs[0], inputs[1], inputs[2]));
  LeafSpec spec{DType::kFloat32, {}};
  if (!inputs[0].shape) return spec;
  const int64_t boxes = inputs[1].shape ? inputs[1].shape->front() : inputs[2].shape ? inputs[2].shape->front() : -1;
  spec.shape = {boxes, height, width, inputs[0].shape->back()};
  return spec;
}

Result<Array> CropAndResize::apply(std::span<const Array> inputs, Context& context) const {
  const Array &images = inputs[0], &boxes = inputs[1], &indices = inputs[2];
  STOKER_TRY(const bool nearest, is_nearest(*this));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(check_inputs(spec_of(images), spec_of(boxes), spec_of(indices)));
  if (boxes.dim(0) != indices.dim(0))
    return Error::invalid("box_indices has ", indices.dim(0), " numbers, expected one for each of the ", boxes.dim(0),
                          " boxes");
  if (images.dim(1) == 0 || images.dim(2) == 0)
    return Error::invalid("an image without pixels cannot be resized, got shape ", shape_text(images.shape()));
  STOKER_TRY(Array out,
             context.result(std::vector<int64_t>{boxes.dim(0), height, width, images.dim(3)}, DType::kFloat32));
  for (int64_t i = 0; i < boxes.dim(0); ++i) {
    const int64_t index = index_at(indices, static_cast<size_t>(i));
    if (index < 0 || index >= images.dim(0))
      return Error::invalid("box_indices[", i, "] is ", index, ", expected 0 to ", images.dim(0) - 1);
    const auto box = boxes.values<float>().subspan(static_cast<size_t>(4 * i)).first<4>();
    crop_and_resize(image_view(images, index), box, nearest, static_cast<float>(extrapolation_value),
                    image_view(out, i));
  }
  return out;
}

namespace image {

Value resize_with_pad(Value image, ResizeWithPad params) { return call(std::move(params), {std::move(image)}); }
Value crop_and_resize(Value images, Value boxes, Value box_indices, CropAndResize params) {
  return call(std::move(params), {std::move(images), std::move(boxes), std::move(box_indices)});
}

}  // namespace image
}  // namespace stoker
