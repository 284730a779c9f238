#include "stoker/ops/crop.h"

#include <algorithm>

#include "stoker/image/crop.h"
#include "stoker/image/resize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/part.h"
#include "stoker/ops/picture_dims.h"
#include "stoker/ops/range.h"
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

// ---- resizing

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

// The window, a Result<ImageView>, that `view(ImageView)` gives of each picture, in the size given.
template <typename View>
Result<Array> resized(const Array& from, Size size, ResizeHow how, Context& context, View view) {
  STOKER_TRY(const DType type, resized_type(from.type(), how));
  STOKER_TRY(check_pixels(from.dims()));
  STOKER_TRY(Array out, context.result(with_size(from.dims(), size), type));
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    STOKER_TRY(const ImageView window, view(picture_of(from, i)));
    STOKER_TRY(resize_picture(window, picture_of(out, i), how));
  }
  return out;
}

}  // namespace

Result<CropBox> CropToBoundingBox::box(int64_t rows, int64_t columns) const {
  if (offset_height < 0 || offset_width < 0)
    return Error::invalid("offsets are at least 0, found ", offset_height, " and ", offset_width);
  STOKER_TRY(check_size(target_height, target_width));
  if (rows - target_height < offset_height || columns - target_width < offset_width)
    return Error::invalid("a window of ", target_height, "x", target_width, " at ", offset_height, ", ", offset_width,
                          " does not fit a picture of ", rows, "x", columns);
  return CropBox{offset_height, offset_width, target_height, target_width};
}

Result<CropBox> PadToBoundingBox::box(int64_t rows, int64_t columns) const {
  if (offset_height < 0 || offset_width < 0)
    return Error::invalid("offsets are at least 0, found ", offset_height, " and ", offset_width);
  if (target_height - offset_height < rows || target_width - offset_width < columns)
    return Error::invalid("a picture of ", rows, "x", columns, " at ", offset_height, ", ", offset_width,
                          " does not fit ", target_height, "x", target_width);
  return CropBox{-offset_height, -offset_width, target_height, target_width};
}

Result<CropBox> CentralCrop::box(int64_t rows, int64_t columns) const {
  if (!(central_fraction > 0 && central_fraction <= 1))
    return Error::invalid("central_fraction is above 0 and at most 1, found ", central_fraction);
  return central_box(rows, columns, central_fraction);
}

Result<CropBox> CenterCrop::box(int64_t rows, int64_t columns) const {
  STOKER_TRY(check_size(height, width));
  return center_box(rows, columns, height, width);
}

Result<CropBox> ResizeWithCropOrPad::box(int64_t rows, int64_t columns) const {
  STOKER_TRY(check_size(target_height, target_width));
  return crop_or_pad_box(rows, columns, target_height, target_width);
}

Result<LeafSpec> CropToBoundingBox::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {target_height, target_width});
}
Result<Array> CropToBoundingBox::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}

Result<LeafSpec> PadToBoundingBox::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {target_height, target_width});
}
Result<Array> PadToBoundingBox::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}

Result<LeafSpec> CentralCrop::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); });
}
Result<Array> CentralCrop::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}

Result<LeafSpec> CenterCrop::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {height, width});
}
Result<Array> CenterCrop::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}

Result<LeafSpec> ResizeWithCropOrPad::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {target_height, target_width});
}
Result<Array> ResizeWithCropOrPad::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}

Result<LeafSpec> RandomCrop::spec(std::span<const LeafSpec> inputs) const { return part_spec(inputs[0], size); }
Result<Array> RandomCrop::apply(std::span<const Array> inputs, Context& context) const {
  Rng rng = draws(seed, context);
  return drawn_part(inputs[0], size, context, [&](int64_t places) { return rng.below(places); });
}

Result<CropBox> RandomResizedCrop::box(int64_t rows, int64_t columns, Rng& rng) const {
  STOKER_TRY(const DrawRange scales, range_of(scale, "scale"));
  STOKER_TRY(const DrawRange ratios, range_of(ratio, "ratio"));
  return draw_resized_crop(rng, rows, columns, scales, ratios);
}
Result<ResizeHow> RandomResizedCrop::how() const {
  STOKER_TRY(const ResizeHow how, resize_how(method, antialias, like));
  STOKER_TRY(check_size(height, width));
  STOKER_TRY(range_of(scale, "scale"));
  STOKER_TRY(range_of(ratio, "ratio"));
  return how;
}
Result<LeafSpec> RandomResizedCrop::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const ResizeHow how, this->how());
  const Size size{height, width};
  return resized_spec(inputs[0], how, [&](Size) -> Result<Size> { return size; }, size);
}
Result<Array> RandomResizedCrop::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const ResizeHow how, this->how());
  STOKER_TRY(check_picture(inputs[0].dims()));
  Rng rng = draws(seed, context);
  return resized(inputs[0], {height, width}, how, context, [&](const ImageView& picture) -> Result<ImageView> {
    STOKER_TRY(const CropBox window, box(picture.height, picture.width, rng));
    return cropped(picture, window);
  });
}

Result<ResizeHow> ResizeShorter::how() const { return resize_how(method, antialias, like); }
Result<void> ResizeShorter::size_of(int64_t& rows, int64_t& columns) const {
  if (size < 1) return Error::invalid("size is at least 1, found ", size);
  const auto [shorter, longer] = std::minmax(rows, columns);
  int64_t scaled = 0;
  if (shorter == 0 || __builtin_mul_overflow(size, longer, &scaled))
    return Error::invalid("a picture of ", rows, "x", columns, " cannot be resized to a shorter side of ", size);
  const bool upright = columns <= rows;
  const int64_t other = scaled / shorter;
  rows = upright ? other : size;
  columns = upright ? size : other;
  return {};
}
Result<LeafSpec> ResizeShorter::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const ResizeHow how, this->how());
  return resized_spec(inputs[0], how, [&](Size from) -> Result<Size> {
    STOKER_TRY(size_of(from.height, from.width));
    return from;
  });
}
Result<Array> ResizeShorter::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const ResizeHow how, this->how());
  STOKER_TRY(check_picture(inputs[0].dims()));
  STOKER_TRY(check_pixels(inputs[0].dims()));
  Size to = size_of_picture(inputs[0].dims());
  STOKER_TRY(size_of(to.height, to.width));
  return resized(inputs[0], to, how, context, [](const ImageView& picture) -> Result<ImageView> { return picture; });
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
