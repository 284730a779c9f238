#include "stoker/ops/crop.h"

#include <algorithm>

#include "stoker/image/crop.h"
#include "stoker/image/resize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/picture_dims.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

Result<void> check_numbers(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("a picture has numbers, found ", name_of(type));
}

Result<void> check_size(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1) return {};
  return Error::invalid("size is at least 1x1, found ", height, "x", width);
}

struct Size {
  int64_t height = -1;  // -1: not known
  int64_t width = -1;
};

Size size_of_picture(Dims dims) { return {dims[dims.size() - 3], dims[dims.size() - 2]}; }

std::vector<int64_t> with_size(Dims dims, Size size) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  result[dims.size() - 3] = size.height;
  result[dims.size() - 2] = size.width;
  return result;
}

// The shape of what `size_of(Size)` makes of a picture, or `otherwise` where its size is not known.
template <typename SizeOf>
Result<std::vector<int64_t>> sized_shape(Dims dims, SizeOf size_of, Size otherwise) {
  STOKER_TRY(check_picture(dims));
  const Size size = size_of_picture(dims);
  if (size.height < 0 || size.width < 0) return with_size(dims, otherwise);
  STOKER_TRY(const Size made, size_of(size));
  return with_size(dims, made);
}

// ---- windows: pictures of the same type, where `box_of(Size)` is a Result<CropBox>

template <typename BoxOf>
Result<LeafSpec> window_spec(const LeafSpec& input, BoxOf box_of, Size otherwise = {}) {
  if (input.type) STOKER_TRY(check_numbers(*input.type));
  LeafSpec spec{input.type, {}};
  if (!input.shape) return spec;
  const auto size_of = [&](Size size) -> Result<Size> {
    STOKER_TRY(const CropBox box, box_of(size));
    return Size{box.height, box.width};
  };
  STOKER_TRY(spec.shape, sized_shape(*input.shape, size_of, otherwise));
  return spec;
}

template <typename BoxOf>
Result<Array> windows(const Array& from, Context& context, BoxOf box_of) {
  STOKER_TRY(check_numbers(from.type()));
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(const CropBox box, box_of(size_of_picture(from.dims())));
  STOKER_TRY(Array out, context.result(with_size(from.dims(), {box.height, box.width}), from.type()));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) take_window(picture_of(from, i), box, picture_of(out, i));
  return out;
}

Result<CropBox> box_of(const CropToBoundingBox& op, Size size) {
  if (op.offset_height < 0 || op.offset_width < 0)
    return Error::invalid("offsets are at least 0, found ", op.offset_height, " and ", op.offset_width);
  STOKER_TRY(check_size(op.target_height, op.target_width));
  if (size.height - op.target_height < op.offset_height || size.width - op.target_width < op.offset_width)
    return Error::invalid("a window of ", op.target_height, "x", op.target_width, " at ", op.offset_height, ", ",
                          op.offset_width, " does not fit a picture of ", size.height, "x", size.width);
  return CropBox{op.offset_height, op.offset_width, op.target_height, op.target_width};
}

Result<CropBox> box_of(const PadToBoundingBox& op, Size size) {
  if (op.offset_height < 0 || op.offset_width < 0)
    return Error::invalid("offsets are at least 0, found ", op.offset_height, " and ", op.offset_width);
  if (op.target_height - op.offset_height < size.height || op.target_width - op.offset_width < size.width)
    return Error::invalid("a picture of ", size.height, "x", size.width, " at ", op.offset_height, ", ",
                          op.offset_width, " does not fit ", op.target_height, "x", op.target_width);
  return CropBox{-op.offset_height, -op.offset_width, op.target_height, op.target_width};
}

Result<CropBox> box_of(const CentralCrop& op, Size size) {
  if (!(op.central_fraction > 0 && op.central_fraction <= 1))
    return Error::invalid("central_fraction is above 0 and at most 1, found ", op.central_fraction);
  return central_box(size.height, size.width, op.central_fraction);
}

Result<CropBox> box_of(const CenterCrop& op, Size size) {
  STOKER_TRY(check_size(op.height, op.width));
  return center_box(size.height, size.width, op.height, op.width);
}

Result<CropBox> box_of(const ResizeWithCropOrPad& op, Size size) {
  STOKER_TRY(check_size(op.target_height, op.target_width));
  return crop_or_pad_box(size.height, size.width, op.target_height, op.target_width);
}

// ---- parts of arrays

Result<void> check_part(const std::vector<int64_t>& size, Dims dims) {
  bool fits = size.size() == dims.size();
  for (size_t i = 0; fits && i < size.size(); ++i) fits = size[i] >= 0 && (dims[i] < 0 || size[i] <= dims[i]);
  if (fits) return {};
  return Error::invalid("a part of shape ", words_of(size), " does not fit shape ", words_of(dims));
}

// ---- resizing

Result<Range> range_of(const std::vector<double>& values, std::string_view name) {
  if (values.size() == 2 && values[0] > 0 && values[0] <= values[1] && values[1] < 1e9)
    return Range{values[0], values[1]};
  std::string found;
  for (double value : values) found += (found.empty() ? "" : ", ") + std::to_string(value);
  return Error::invalid(name, " is two rising numbers above 0, found [", found, "]");
}

Result<void> check_pixels(Dims dims) {
  const Size size = size_of_picture(dims);
  if (size.height != 0 && size.width != 0) return {};
  return Error::invalid("a picture without pixels cannot be resized, found shape ", words_of(dims));
}

template <typename SizeOf>
Result<LeafSpec> resized_spec(const LeafSpec& input, ResizeHow how, SizeOf size_of, Size otherwise = {}) {
  LeafSpec spec;
  if (input.type) {
    STOKER_TRY(spec.type, resized_type(*input.type, how));
  }
  if (input.shape) {
    STOKER_TRY(spec.shape, sized_shape(*input.shape, size_of, otherwise));
  }
  return spec;
}

// The window that `view(ImageView)` gives of each picture, in the size given.
template <typename View>
Result<Array> resized(const Array& from, Size size, ResizeHow how, Context& context, View view) {
  STOKER_TRY(const DType type, resized_type(from.type(), how));
  STOKER_TRY(check_pixels(from.dims()));
  STOKER_TRY(Array out, context.result(with_size(from.dims(), size), type));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    STOKER_TRY(resize_picture(view(picture_of(from, i)), picture_of(out, i), how));
  }
  return out;
}

Result<Size> shorter_size(int64_t to, Size size) {
  if (to < 1) return Error::invalid("size is at least 1, found ", to);
  const auto [shorter, longer] = std::minmax(size.height, size.width);
  int64_t scaled = 0;
  if (shorter == 0 || __builtin_mul_overflow(to, longer, &scaled))
    return Error::invalid("a picture of ", size.height, "x", size.width, " cannot be resized to a shorter side of ",
                          to);
  const int64_t other = scaled / shorter;
  return size.width <= size.height ? Size{other, to} : Size{to, other};
}

}  // namespace

Result<LeafSpec> CropToBoundingBox::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box_of(*this, size); }, {target_height, target_width});
}
Result<Array> CropToBoundingBox::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box_of(*this, size); });
}

Result<LeafSpec> PadToBoundingBox::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box_of(*this, size); }, {target_height, target_width});
}
Result<Array> PadToBoundingBox::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box_of(*this, size); });
}

Result<LeafSpec> CentralCrop::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box_of(*this, size); });
}
Result<Array> CentralCrop::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box_of(*this, size); });
}

Result<LeafSpec> CenterCrop::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box_of(*this, size); }, {height, width});
}
Result<Array> CenterCrop::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box_of(*this, size); });
}

Result<LeafSpec> ResizeWithCropOrPad::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box_of(*this, size); }, {target_height, target_width});
}
Result<Array> ResizeWithCropOrPad::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box_of(*this, size); });
}

Result<LeafSpec> RandomCrop::spec(std::span<const LeafSpec> inputs) const {
  if (inputs[0].type) STOKER_TRY(check_numbers(*inputs[0].type));
  if (inputs[0].shape) STOKER_TRY(check_part(size, *inputs[0].shape));
  return LeafSpec{inputs[0].type, size};
}
Result<Array> RandomCrop::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_numbers(from.type()));
  STOKER_TRY(check_part(size, from.dims()));
  Rng rng = draws(seed, context);
  std::vector<int64_t> offset;
  for (size_t i = 0; i < size.size(); ++i) offset.push_back(rng.below(from.dims()[i] - size[i] + 1));
  STOKER_TRY(Array out, context.result(size, from.type()));
  take_part(from, offset, out);
  return out;
}

Result<LeafSpec> RandomResizedCrop::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(range_of(scale, "scale"));
  STOKER_TRY(range_of(ratio, "ratio"));
  const Size size{height, width};
  return resized_spec(inputs[0], how, [&](Size) -> Result<Size> { return size; }, size);
}
Result<Array> RandomResizedCrop::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(check_picture(inputs[0].dims()));
  STOKER_TRY(const Range scales, range_of(scale, "scale"));
  STOKER_TRY(const Range ratios, range_of(ratio, "ratio"));
  Rng rng = draws(seed, context);
  return resized(inputs[0], {height, width}, how, context, [&](const ImageView& picture) {
    return cropped(picture, draw_resized_crop(rng, picture.height, picture.width, scales, ratios));
  });
}

Result<LeafSpec> ResizeShorter::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  return resized_spec(inputs[0], how, [&](Size from) { return shorter_size(size, from); });
}
Result<Array> ResizeShorter::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_picture(inputs[0].dims()));
  STOKER_TRY(check_pixels(inputs[0].dims()));
  STOKER_TRY(const Size to, shorter_size(size, size_of_picture(inputs[0].dims())));
  return resized(inputs[0], to, how, context, [](const ImageView& picture) { return picture; });
}

namespace image {

Value crop_to_bounding_box(Value picture, CropToBoundingBox params) { return call(params, {std::move(picture)}); }
Value pad_to_bounding_box(Value picture, PadToBoundingBox params) { return call(params, {std::move(picture)}); }
Value central_crop(Value picture, CentralCrop params) { return call(params, {std::move(picture)}); }
Value center_crop(Value picture, CenterCrop params) { return call(params, {std::move(picture)}); }
Value resize_with_crop_or_pad(Value picture, ResizeWithCropOrPad params) { return call(params, {std::move(picture)}); }
Value random_crop(Value values, RandomCrop params) { return call(std::move(params), {std::move(values)}); }
Value random_resized_crop(Value picture, RandomResizedCrop params) {
  return call(std::move(params), {std::move(picture)});
}
Value resize_shorter(Value picture, ResizeShorter params) { return call(std::move(params), {std::move(picture)}); }

}  // namespace image
}  // namespace stoker
