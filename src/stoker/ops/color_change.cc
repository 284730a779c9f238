#include "stoker/ops/color_change.h"

#include "stoker/codecs/jpeg.h"
#include "stoker/codecs/jpeg_encode.h"
#include "stoker/image/color.h"
#include "stoker/ops/image_dims.h"

namespace stoker {
namespace {

Result<void> check_jpeg_image(Dims dims) {
  const bool fits = dims.size() == 3 && (dims[2] == 1 || dims[2] == 3 || dims[2] < 0);
  if (fits) return {};
  return Error::invalid("expected one image with 1 or 3 channels to encode as JPEG, got shape ", shape_text(dims));
}

// TensorFlow saturates in the conversions to bytes and from bytes.
Result<Array> converted(const Array& from, DType type, Context& context) {
  STOKER_TRY(Array to, context.result(from.shape(), type));
  convert_intensity(from.raw(), from.type(), to.mutable_raw(), type, true, from.count());
  return to;
}

Result<Array> bytes_through_jpeg(const Array& from, int64_t quality, bool accurate, Array out) {
  const auto channels = static_cast<int>(from.dim(2));
  const ImageInfo info{from.dim(0), from.dim(1), channels, 8};
  const int64_t stride = from.dim(1) * from.dim(2);
  STOKER_TRY(const std::string bytes, encode_jpeg(info, static_cast<const std::byte*>(from.raw()), stride,
                                                  {.quality = static_cast<int>(quality)}));
  const JpegOptions options{.channels = channels, .dct = accurate ? JpegDct::kIntegerAccurate : JpegDct::kIntegerFast};
  STOKER_TRY(decode_jpeg(bytes, options, [&](const ImageInfo&) -> Result<PixelRows> {
    return PixelRows{static_cast<std::byte*>(out.mutable_raw()), stride};
  }));
  return out;
}

}  // namespace

Result<void> check_rgb(Dims dims) {
  if (!dims.empty() && (dims.back() == 3 || dims.back() < 0)) return {};
  return Error::invalid("expected an RGB image with 3 channels, got shape ", shape_text(dims));
}

Result<LeafSpec> intensity_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_intensity(*input.type));
  return input;
}

Result<LeafSpec> contrast_spec(const LeafSpec& input) {
  if (input.shape) STOKER_TRY(check_image(*input.shape));
  return intensity_spec(input);
}

Result<LeafSpec> rgb_spec(const LeafSpec& input) {
  if (input.shape) STOKER_TRY(check_rgb(*input.shape));
  return intensity_spec(input);
}

Result<LeafSpec> jpeg_spec(const LeafSpec& input) {
  if (input.shape) STOKER_TRY(check_jpeg_image(*input.shape));
  return intensity_spec(input);
}

Result<Array> brightened(const Array& from, float delta, Context& context) {
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  adjust_brightness(from.raw(), from.type(), delta, out.mutable_raw(), from.count());
  return out;
}

Result<Array> contrasted(const Array& from, float factor, Context& context) {
  STOKER_TRY(check_image(from.shape()));
  const int64_t pixels = from.dim(from.rank() - 3) * from.dim(from.rank() - 2), channels = from.shape().back();
  return in_floats(from, from.shape(), true, context, [&](const float* in, float* out) {
    for (int64_t i = 0; i < images_in(from.shape()); ++i, in += pixels * channels, out += pixels * channels)
      adjust_contrast(in, factor, out, pixels, channels);
  });
}

Result<Array> hue_turned(const Array& from, float delta, Context& context) {
  STOKER_TRY(check_rgb(from.shape()));
  return in_floats(from, from.shape(), false, context,
                   [&](const float* in, float* out) { adjust_hue(in, delta, out, from.count() / 3); });
}

Result<Array> saturated(const Array& from, float factor, Context& context) {
  STOKER_TRY(check_rgb(from.shape()));
  return in_floats(from, from.shape(), false, context,
                   [&](const float* in, float* out) { adjust_saturation(in, factor, out, from.count() / 3); });
}

Result<Array> through_jpeg(const Array& from, int64_t quality, bool accurate, Context& context) {
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(check_jpeg_image(from.shape()));
  if (from.type() == DType::kUint8) {
    STOKER_TRY(Array out, context.result(from.shape(), DType::kUint8));
    return bytes_through_jpeg(from, quality, accurate, std::move(out));
  }
  STOKER_TRY(Array bytes, context.scratch(from.shape(), DType::kUint8));
  convert_intensity(from.raw(), from.type(), bytes.mutable_raw(), DType::kUint8, true, from.count());
  STOKER_TRY(Array decoded, context.scratch(from.shape(), DType::kUint8));
  STOKER_TRY(decoded, bytes_through_jpeg(bytes, quality, accurate, std::move(decoded)));
  return converted(decoded, from.type(), context);
}

Result<void> check_max_delta(double max_delta, double most) {
  if (max_delta >= 0 && max_delta <= most) return {};
  if (max_delta < 0) return Error::invalid("max_delta must be at least 0, got ", max_delta);
  return Error::invalid("max_delta must be at most ", most, ", got ", max_delta);
}

Result<void> check_factors(double lower, double upper) {
  if (lower >= 0 && upper > lower) return {};
  return Error::invalid("lower must be at least 0 and upper must be greater, got ", lower, " and ", upper);
}

Result<void> check_qualities(int64_t least, int64_t most) {
  if (least >= 0 && most <= 100 && least < most) return {};
  return Error::invalid(
      "min_jpeg_quality must be at least 0 and max_jpeg_quality must be greater and at most 100, got ", least, " and ",
      most);
}

}  // namespace stoker
