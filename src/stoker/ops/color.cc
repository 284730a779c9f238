#include "stoker/ops/color.h"

#include <algorithm>
#include <cstring>

#include "stoker/image/color.h"
#include "stoker/ops/call.h"
#include "stoker/ops/color_change.h"
#include "stoker/ops/picture_dims.h"

namespace stoker {
namespace {

Result<void> check_hue(double delta) {
  if (delta >= -1 && delta <= 1) return {};
  return Error::invalid("delta is -1 to 1, found ", delta);
}

Result<void> check_gamma(double gamma) {
  if (gamma >= 0) return {};
  return Error::invalid("gamma is at least 0, found ", gamma);
}

Result<bool> is_accurate(std::string_view dct_method) {
  if (dct_method == "INTEGER_ACCURATE") return true;
  if (dct_method.empty() || dct_method == "INTEGER_FAST") return false;
  return Error::invalid("dct_method is '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', found '", dct_method, "'");
}

Result<void> check_quality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return {};
  return Error::invalid("jpeg_quality is 0 to 100, found ", quality);
}

Result<void> check_gray(Dims dims) {
  if (!dims.empty() && (dims.back() == 1 || dims.back() < 0)) return {};
  return Error::invalid("a grey picture has 1 channel, found shape ", words_of(dims));
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

// ---- from one space of colours to another: floats alone

Result<void> check_floats(DType type) {
  if (is_float(type)) return {};
  return Error::invalid("colours are converted as floats, found ", name_of(type));
}

Result<LeafSpec> space_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_floats(*input.type));
  return rgb_spec(input);
}

template <typename Compute>
Result<Array> in_space(const Array& from, Context& context, Compute compute) {
  STOKER_TRY(check_floats(from.type()));
  STOKER_TRY(check_rgb(from.dims()));
  return in_floats(from, from.dims(), false, context,
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
  return in_floats(inputs[0], inputs[0].dims(), true, context, [&](const float* in, float* out) {
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
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(Array out, context.result(from.dims(), DType::kFloat32));
  auto* to = static_cast<float*>(out.mutable_raw());
  visit_dtype(from.type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>)
      std::ranges::transform(from.values<T>(), to, [](T value) { return static_cast<float>(value); });
  });
  const int64_t pictures = pictures_in(from.dims());
  for (int64_t i = 0; i < pictures; ++i, to += from.count() / pictures) standardize(to, to, from.count() / pictures);
  return out;
}

Result<LeafSpec> RgbToGrayscale::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(LeafSpec spec, rgb_spec(inputs[0]));
  if (spec.shape) spec.shape->back() = 1;
  return spec;
}
Result<Array> RgbToGrayscale::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_rgb(from.dims()));
  return in_floats(from, with_channels(from.dims(), 1), false, context,
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
  STOKER_TRY(check_gray(from.dims()));
  STOKER_TRY(Array out, context.result(with_channels(from.dims(), 3), from.type()));
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

Value adjust_contrast(Value picture, AdjustContrast params) { return call(params, {std::move(picture)}); }
Value adjust_gamma(Value picture, AdjustGamma params) { return call(params, {std::move(picture)}); }
Value adjust_hue(Value picture, AdjustHue params) { return call(params, {std::move(picture)}); }
Value adjust_saturation(Value picture, AdjustSaturation params) { return call(params, {std::move(picture)}); }
Value per_image_standardization(Value picture) { return call(PerImageStandardization{}, {std::move(picture)}); }
Value rgb_to_grayscale(Value picture) { return call(RgbToGrayscale{}, {std::move(picture)}); }
Value grayscale_to_rgb(Value picture) { return call(GrayscaleToRgb{}, {std::move(picture)}); }
Value rgb_to_hsv(Value picture) { return call(RgbToHsv{}, {std::move(picture)}); }
Value hsv_to_rgb(Value picture) { return call(HsvToRgb{}, {std::move(picture)}); }
Value rgb_to_yuv(Value picture) { return call(RgbToYuv{}, {std::move(picture)}); }
Value yuv_to_rgb(Value picture) { return call(YuvToRgb{}, {std::move(picture)}); }
Value rgb_to_yiq(Value picture) { return call(RgbToYiq{}, {std::move(picture)}); }
Value yiq_to_rgb(Value picture) { return call(YiqToRgb{}, {std::move(picture)}); }
Value adjust_jpeg_quality(Value picture, AdjustJpegQuality params) {
  return call(std::move(params), {std::move(picture)});
}

}  // namespace image
}  // namespace stoker
