#include "stoker/ops/crop.h"

#include <algorithm>

#include "stoker/image/crop.h"
#include "stoker/image/resize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/image_steps.h"
#include "stoker/ops/part.h"
#include "stoker/ops/range.h"
#include "stoker/ops/resize_how.h"

namespace stoker {
namespace {

Result<void> check_numbers(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected an image of numbers, got ", name_of(type));
}

Result<void> check_target_size(int64_t height, int64_t width) {
  if (height >= 1 && width >= 1) return {};
  return Error::invalid("size must be at least 1x1, got ", height, "x", width);
}

struct Size {
  int64_t height = -1;  // -1: unknown
  int64_t width = -1;
};

Size size_of_image(Dims dims) { return {dims[dims.size() - 3], dims[dims.size() - 2]}; }

std::vector<int64_t> with_size(Dims dims, Size size) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  result[dims.size() - 3] = size.height;
  result[dims.size() - 2] = size.width;
  return result;
}

// Returns the shape of the image with the size that `size_of(Size)` returns, or `otherwise` if the size of the image is
// unknown.
template <typename SizeOf>
Result<std::vector<int64_t>> sized_shape(Dims dims, SizeOf size_of, Size otherwise) {
  STOKER_TRY(check_image(dims));
  const Size size = size_of_image(dims);
  if (size.height < 0 || size.width < 0) return with_size(dims, otherwise);
  STOKER_TRY(const Size made, size_of(size));
  return with_size(dims, made);
}

// ---- crop windows: the result has the type of the image; `box_of(Size)` returns a Result<CropBox>

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
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(const CropBox box, box_of(size_of_image(from.shape())));
  STOKER_TRY(Array out, context.result(with_size(from.shape(), {box.height, box.width}), from.type()));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) take_window(image_view(from, i), box, image_view(out, i));
  return out;
}

// ---- resizing

Result<void> check_pixels(Dims dims) {
  const Size size = size_of_image(dims);
  if (size.height != 0 && size.width != 0) return {};
  return Error::invalid("an image without pixels cannot be resized, got shape ", shape_text(dims));
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

// Resizes a window of each image to the given size. `view(ImageView)` returns the window as a Result<ImageView>.
template <typename View>
Result<Array> resized(const Array& from, Size size, ResizeHow how, Context& context, View view) {
  STOKER_TRY(const DType type, resized_type(from.type(), how));
  STOKER_TRY(check_pixels(from.shape()));
  STOKER_TRY(Array out, context.result(with_size(from.shape(), size), type));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    STOKER_TRY(const ImageView window, view(image_view(from, i)));
    STOKER_TRY(resize_image(window, image_view(out, i), how));
  }
  return out;
}

template <typename T>
Contribution crop_step(const T& op) {
  return Contribution::of(CropStep{[op](ImageSize size, const Context&) { return op.box(size.height, size.width); }});
}

}  // namespace

Result<CropBox> CropToBoundingBox::box(int64_t rows, int64_t columns) const {
  if (offset_height < 0 || offset_width < 0)
    return Error::invalid("offsets must be at least 0, got ", offset_height, " and ", offset_width);
  STOKER_TRY(check_target_size(target_height, target_width));
  if (rows - target_height < offset_height || columns - target_width < offset_width)
    return Error::invalid("a crop of ", target_height, "x", target_width, " at ", offset_height, ", ", offset_width,
                          " does not fit an image of ", rows, "x", columns);
  return CropBox{offset_height, offset_width, target_height, target_width};
}

Result<CropBox> PadToBoundingBox::box(int64_t rows, int64_t columns) const {
  if (offset_height < 0 || offset_width < 0)
    return Error::invalid("offsets must be at least 0, got ", offset_height, " and ", offset_width);
  if (target_height - offset_height < rows || target_width - offset_width < columns)
    return Error::invalid("an image of ", rows, "x", columns, " at ", offset_height, ", ", offset_width,
                          " does not fit a result of ", target_height, "x", target_width);
  return CropBox{-offset_height, -offset_width, target_height, target_width};
}

Result<CropBox> CentralCrop::box(int64_t rows, int64_t columns) const {
  if (!(central_fraction > 0 && central_fraction <= 1))
    return Error::invalid("central_fraction must be above 0 and at most 1, got ", central_fraction);
  return central_box(rows, columns, central_fraction);
}

Result<CropBox> CenterCrop::box(int64_t rows, int64_t columns) const {
  STOKER_TRY(check_target_size(height, width));
  return center_box(rows, columns, height, width);
}

Result<CropBox> ResizeWithCropOrPad::box(int64_t rows, int64_t columns) const {
  STOKER_TRY(check_target_size(target_height, target_width));
  return crop_or_pad_box(rows, columns, target_height, target_width);
}

Result<LeafSpec> CropToBoundingBox::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {target_height, target_width});
}
Result<Array> CropToBoundingBox::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}
Contribution CropToBoundingBox::contribution() const { return crop_step(*this); }

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
Contribution CentralCrop::contribution() const { return crop_step(*this); }

Result<LeafSpec> CenterCrop::spec(std::span<const LeafSpec> inputs) const {
  return window_spec(inputs[0], [&](Size size) { return box(size.height, size.width); }, {height, width});
}
Result<Array> CenterCrop::apply(std::span<const Array> inputs, Context& context) const {
  return windows(inputs[0], context, [&](Size size) { return box(size.height, size.width); });
}
Contribution CenterCrop::contribution() const { return crop_step(*this); }

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
  STOKER_TRY(check_target_size(height, width));
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
  STOKER_TRY(check_image(inputs[0].shape()));
  Rng rng = draws(seed, context);
  return resized(inputs[0], {height, width}, how, context, [&](const ImageView& image) -> Result<ImageView> {
    STOKER_TRY(const CropBox window, box(image.height, image.width, rng));
    return cropped(image, window);
  });
}
Contribution RandomResizedCrop::contribution() const {
  const Result<ResizeHow> how = this->how();
  if (!how) return {};
  const auto size = [to = ImageSize{height, width}](ImageSize) -> Result<ImageSize> { return to; };
  const auto box = [op = *this](ImageSize from, const Context& context) {
    Rng rng = draws(op.seed, context);
    return op.box(from.height, from.width, rng);
  };
  return Contribution::of(ResizeStep{*how, size, CropStep{box}});
}

Result<ResizeHow> ResizeShorter::how() const { return resize_how(method, antialias, like); }
Result<void> ResizeShorter::size_of(int64_t& rows, int64_t& columns) const {
  if (size < 1) return Error::invalid("size must be at least 1, got ", size);
  const auto [shorter, longer] = std::minmax(rows, columns);
  int64_t scaled = 0;
  if (shorter == 0 || __builtin_mul_overflow(size, longer, &scaled))
    return Error::invalid("an image of ", rows, "x", columns, " cannot be resized to a shorter side of ", size);
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
  STOKER_TRY(check_image(inputs[0].shape()));
  STOKER_TRY(check_pixels(inputs[0].shape()));
  Size to = size_of_image(inputs[0].shape());
  STOKER_TRY(size_of(to.height, to.width));
  return resized(inputs[0], to, how, context, [](const ImageView& image) -> Result<ImageView> { return image; });
}
Contribution ResizeShorter::contribution() const {
  const Result<ResizeHow> how = this->how();
  if (!how) return {};
  const auto resized_size = [op = *this](ImageSize from) -> Result<ImageSize> {
    STOKER_TRY(op.size_of(from.height, from.width));
    return from;
  };
  return Contribution::of(ResizeStep{*how, resized_size, {}});
}

namespace image {

Value crop_to_bounding_box(Value image, CropToBoundingBox params) { return call(params, {std::move(image)}); }
Value pad_to_bounding_box(Value image, PadToBoundingBox params) { return call(params, {std::move(image)}); }
Value central_crop(Value image, CentralCrop params) { return call(params, {std::move(image)}); }
Value center_crop(Value image, CenterCrop params) { return call(params, {std::move(image)}); }
Value resize_with_crop_or_pad(Value image, ResizeWithCropOrPad params) { return call(params, {std::move(image)}); }
Value random_crop(Value values, RandomCrop params) { return call(std::move(params), {std::move(values)}); }
Value random_resized_crop(Value image, RandomResizedCrop params) { return call(std::move(params), {std::move(image)}); }
Value resize_shorter(Value image, ResizeShorter params) { return call(std::move(params), {std::move(image)}); }

}  // namespace image
}  // namespace stoker
