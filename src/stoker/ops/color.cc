#include "stoker/ops/color.h"

#include <algorithm>
#include <cstring>

#include "stoker/image/color.h"
#include "stoker/ops/call.h"
#include "stoker/ops/color_change.h"
#include "stoker/ops/image_dims.h"

namespace stoker {
namespace {

Result<void> check_hue(double delta) {
  if (delta >= -1 && delta <= 1) return {};
  return Error::invalid("delta must be -1 to 1, got ", delta);
}

Result<void> check_gamma(double gamma) {
  if (gamma >= 0) return {};
  return Error::invalid("gamma must be at least 0, got ", gamma);
}

Result<bool> is_accurate(std::string_view dct_method) {
  if (dct_method == "INTEGER_ACCURATE") return true;
  if (dct_method.empty() || dct_method == "INTEGER_FAST") return false;
  return Error::invalid("dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got '", dct_method, "'");
}

Result<void> check_quality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return {};
  return Error::invalid("jpeg_quality must be 0 to 100, got ", quality);
}

Result<void> check_gray(Dims dims) {
  if (!dims.empty() && (dims.back() == 1 || dims.back() < 0)) return {};
  return Error::invalid("expected a gray image with 1 channel, got shape ", shape_text(dims));
}

std::vector<int64_t> with_channels(Dims dims, int64_t channels) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  result.back() = channels;
  return result;
}

void grayscale_values(const std::byte* from, size_t item, std::byte* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += item)
    for (int c = 0; c < 3; ++c, to += item) std::memcpy(to, from, item);
}

// ---- color spaces, for floats only

Result<void> check_floats(DType type) {
  if (is_float(type)) return {};
  return Error::invalid("expected a float image, got ", name_of(type));
}

Result<LeafSpec> space_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_floats(*input.type));
  return rgb_spec(input);
}

template <typename Compute>
Result<Array> in_space(const Array& from, Context& context, Compute compute) {
  STOKER_TRY(check_floats(from.type()));
  STOKER_TRY(check_rgb(from.shape()));
  return in_floats(from, from.shape(), false, context,
                   [&](const float* in, float* out) { compute(in, out, from.count() / 3); });
}

Result<Array> times(const Array& from, const Matrix& matrix, Context& context) {
  return in_space(from, context,
                  [&](const float* in, float* out, int64_t pixels) { times_matrix(in, matrix, out, pixels); });
}

}  // namespace

Result<LeafSpec> AdjustContrast::spec(std::span<const LeafSpec> inputs) const { return contrast_spec(inputs[0]); }
Result<Array> AdjustContrast::apply(std::span<const Array> inputs, Context& context) const {
  return contrasted(inputs[0], static_cast<float>(contrast_factor), context);
}

Result<LeafSpec> AdjustGamma::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_gamma(gamma));
  return intensity_spec(inputs[0]);
}
Result<Array> AdjustGamma::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_gamma(gamma));
  return in_floats(inputs[0], inputs[0].shape(), true, context, [&](const float* in, float* out) {
    adjust_gamma(in, static_cast<float>(gamma), static_cast<float>(gain), out, inputs[0].count());
  });
}

Result<LeafSpec> AdjustHue::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_hue(delta));
  return rgb_spec(inputs[0]);
}
Result<Array> AdjustHue::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_hue(delta));
  return hue_turned(inputs[0], static_cast<float>(delta), context);
}

Result<LeafSpec> AdjustSaturation::spec(std::span<const LeafSpec> inputs) const { return rgb_spec(inputs[0]); }
Result<Array> AdjustSaturation::apply(std::span<const Array> inputs, Context& context) const {
  return saturated(inputs[0], static_cast<float>(saturation_factor), context);
}

Result<LeafSpec> PerImageStandardization::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(LeafSpec spec, contrast_spec(inputs[0]));
  spec.type = DType::kFloat32;
  return spec;
}
Result<Array> PerImageStandardization::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(Array out, context.result(from.shape(), DType::kFloat32));
  auto* to = static_cast<float*>(out.mutable_raw());
  visit_dtype(from.type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>)
      std::ranges::transform(from.values<T>(), to, [](T value) { return static_cast<float>(value); });
  });
  const int64_t images = images_in(from.shape());
  for (int64_t i = 0; i < images; ++i, to += from.count() / images) standardize(to, to, from.count() / images);
  return out;
}

Result<LeafSpec> RgbToGrayscale::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(LeafSpec spec, rgb_spec(inputs[0]));
  if (spec.shape) spec.shape->back() = 1;
  return spec;
}
Result<Array> RgbToGrayscale::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_rgb(from.shape()));
  return in_floats(from, with_channels(from.shape(), 1), false, context,
                   [&](const float* in, float* out) { rgb_to_grayscale(in, out, from.count() / 3); });
}

Result<LeafSpec> GrayscaleToRgb::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(LeafSpec spec, intensity_spec(inputs[0]));
  if (!spec.shape) return spec;
  STOKER_TRY(check_gray(*spec.shape));
  spec.shape->back() = 3;
  return spec;
}
Result<Array> GrayscaleToRgb::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(check_gray(from.shape()));
  STOKER_TRY(Array out, context.result(with_channels(from.shape(), 3), from.type()));
  grayscale_values(static_cast<const std::byte*>(from.raw()), size_of(from.type()),
                   static_cast<std::byte*>(out.mutable_raw()), from.count());
  return out;
}

Result<LeafSpec> RgbToHsv::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> RgbToHsv::apply(std::span<const Array> inputs, Context& context) const {
  return in_space(inputs[0], context, rgb_to_hsv);
}

Result<LeafSpec> HsvToRgb::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> HsvToRgb::apply(std::span<const Array> inputs, Context& context) const {
  return in_space(inputs[0], context, hsv_to_rgb);
}

Result<LeafSpec> RgbToYuv::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> RgbToYuv::apply(std::span<const Array> inputs, Context& context) const {
  return times(inputs[0], kRgbToYuv, context);
}

Result<LeafSpec> YuvToRgb::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> YuvToRgb::apply(std::span<const Array> inputs, Context& context) const {
  return times(inputs[0], kYuvToRgb, context);
}

Result<LeafSpec> RgbToYiq::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> RgbToYiq::apply(std::span<const Array> inputs, Context& context) const {
  return times(inputs[0], kRgbToYiq, context);
}

Result<LeafSpec> YiqToRgb::spec(std::span<const LeafSpec> inputs) const { return space_spec(inputs[0]); }
Result<Array> YiqToRgb::apply(std::span<const Array> inputs, Context& context) const {
  return times(inputs[0], kYiqToRgb, context);
}

Result<LeafSpec> AdjustJpegQuality::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_quality(jpeg_quality));
  STOKER_TRY(is_accurate(dct_method));
  return jpeg_spec(inputs[0]);
}
Result<Array> AdjustJpegQuality::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_quality(jpeg_quality));
  STOKER_TRY(const bool accurate, is_accurate(dct_method));
  return through_jpeg(inputs[0], jpeg_quality, accurate, context);
}

namespace image {

Value adjust_contrast(Value image, AdjustContrast params) { return call(params, {std::move(image)}); }
Value adjust_gamma(Value image, AdjustGamma params) { return call(params, {std::move(image)}); }
Value adjust_hue(Value image, AdjustHue params) { return call(params, {std::move(image)}); }
Value adjust_saturation(Value image, AdjustSaturation params) { return call(params, {std::move(image)}); }
Value per_image_standardization(Value image) { return call(PerImageStandardization{}, {std::move(image)}); }
Value rgb_to_grayscale(Value image) { return call(RgbToGrayscale{}, {std::move(image)}); }
Value grayscale_to_rgb(Value image) { return call(GrayscaleToRgb{}, {std::move(image)}); }
Value rgb_to_hsv(Value image) { return call(RgbToHsv{}, {std::move(image)}); }
Value hsv_to_rgb(Value image) { return call(HsvToRgb{}, {std::move(image)}); }
Value rgb_to_yuv(Value image) { return call(RgbToYuv{}, {std::move(image)}); }
Value yuv_to_rgb(Value image) { return call(YuvToRgb{}, {std::move(image)}); }
Value rgb_to_yiq(Value image) { return call(RgbToYiq{}, {std::move(image)}); }
Value yiq_to_rgb(Value image) { return call(YiqToRgb{}, {std::move(image)}); }
Value adjust_jpeg_quality(Value image, AdjustJpegQuality params) { return call(std::move(params), {std::move(image)}); }

}  // namespace image
}  // namespace stoker
