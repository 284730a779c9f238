#include "stoker/ops/resize_window.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "stoker/image/crop_and_resize.h"
#include "stoker/image/resize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/picture_dims.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

constexpr int64_t kLongestSide = std::numeric_limits<int32_t>::max();

Result<void> check_size(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1 && height <= kLongestSide && width <= kLongestSide) return {};
  return Error::invalid("sides are 1 to ", kLongestSide, ", found ", height, "x", width);
}

// ---- inside a size

// Where a picture lies in the result, computed as TensorFlow does.
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
  return Error::invalid("a picture of ", height, "x", width, " in its proportions has no pixel inside ",
                        to.target_height, "x", to.target_width);
}

MutableImageView window_of(const MutableImageView& picture, const Place& place) {
  MutableImageView view = picture;
  const auto pixel = picture.channels * static_cast<int64_t>(size_of(picture.type));
  view.data = picture.row<std::byte>(place.top) + place.left * pixel;
  view.height = place.height;
  view.width = place.width;
  return view;
}

// ---- windows

Result<bool> is_nearest(const CropAndResize& op) {
  if (op.method == "nearest") return true;
  if (op.method == "bilinear") return false;
  return Error::invalid("method is bilinear or nearest, found '", op.method, "'");
}

Result<void> check_inputs(const LeafSpec& pictures, const LeafSpec& boxes, const LeafSpec& indices) {
  if (pictures.type && (*pictures.type == DType::kBytes || *pictures.type == DType::kBool))
    return Error::invalid("a picture has numbers, found ", name_of(*pictures.type));
  if (pictures.shape && pictures.shape->size() != 4)
    return Error::invalid("a batch of pictures has 4 dims, found shape ", words_of(*pictures.shape));
  if (boxes.type && *boxes.type != DType::kFloat32)
    return Error::invalid("boxes are float32, found ", name_of(*boxes.type));
  if (boxes.shape && (boxes.shape->size() != 2 || (boxes.shape->back() >= 0 && boxes.shape->back() != 4)))
    return Error::invalid("boxes have shape [boxes, 4], found ", words_of(*boxes.shape));
  if (indices.type && *indices.type != DType::kInt32 && *indices.type != DType::kInt64)
    return Error::invalid("box_indices are int32, found ", name_of(*indices.type));
  if (indices.shape && indices.shape->size() != 1)
    return Error::invalid("box_indices have shape [boxes], found ", words_of(*indices.shape));
  return {};
}

LeafSpec spec_of(const Array& array) {
  return {array.type(), std::vector<int64_t>(array.dims().begin(), array.dims().end())};
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
  STOKER_TRY(check_picture(*spec.shape));
  (*spec.shape)[spec.shape->size() - 3] = target_height;
  (*spec.shape)[spec.shape->size() - 2] = target_width;
  return spec;
}

Result<Array> ResizeWithPad::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(target_height, target_width));
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(const DType type, resized_type(from.type(), how));
  const int64_t height = from.dim(from.rank() - 3), width = from.dim(from.rank() - 2);
  if (height == 0 || width == 0)
    return Error::invalid("a picture without pixels cannot be resized, found shape ", words_of(from.dims()));
  STOKER_TRY(const Place place, place_in(*this, height, width));
  std::vector<int64_t> dims(from.dims().begin(), from.dims().end());
  dims[dims.size() - 3] = target_height;
  dims[dims.size() - 2] = target_width;
  STOKER_TRY(Array out, context.result(dims, type));
  if (out.count() == 0) return out;
  std::memset(out.mutable_raw(), 0, static_cast<size_t>(out.byte_size()));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    STOKER_TRY(resize_picture(picture_of(from, i), window_of(picture_of(out, i), place), how));
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
  const Array &pictures = inputs[0], &boxes = inputs[1], &indices = inputs[2];
  STOKER_TRY(const bool nearest, is_nearest(*this));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(check_inputs(spec_of(pictures), spec_of(boxes), spec_of(indices)));
  if (boxes.dim(0) != indices.dim(0))
    return Error::invalid("there are ", boxes.dim(0), " boxes and ", indices.dim(0), " box_indices");
  if (pictures.dim(1) == 0 || pictures.dim(2) == 0)
    return Error::invalid("a picture without pixels cannot be resized, found shape ", words_of(pictures.dims()));
  STOKER_TRY(Array out,
             context.result(std::vector<int64_t>{boxes.dim(0), height, width, pictures.dim(3)}, DType::kFloat32));
  for (int64_t i = 0; i < boxes.dim(0); ++i) {
    const int64_t index = index_at(indices, static_cast<size_t>(i));
    if (index < 0 || index >= pictures.dim(0))
      return Error::invalid("box ", i, " is of picture ", index, ", there are ", pictures.dim(0));
    const auto box = boxes.values<float>().subspan(static_cast<size_t>(4 * i)).first<4>();
    crop_and_resize(picture_of(pictures, index), box, nearest, static_cast<float>(extrapolation_value),
                    picture_of(out, i));
  }
  return out;
}

namespace image {

Value resize_with_pad(Value picture, ResizeWithPad params) { return call(std::move(params), {std::move(picture)}); }
Value crop_and_resize(Value pictures, Value boxes, Value box_indices, CropAndResize params) {
  return call(std::move(params), {std::move(pictures), std::move(boxes), std::move(box_indices)});
}

}  // namespace image
}  // namespace stoker
