#include "stoker/ops/random_image.h"

#include "stoker/image/flip.h"
#include "stoker/ops/call.h"
#include "stoker/ops/color_change.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/flip_some.h"

namespace stoker {
namespace {

constexpr double kMostHue = 0.5;

float between(float lower, float upper, Rng rng) { return rng.uniform_float() * (upper - lower) + lower; }

}  // namespace

Result<LeafSpec> RandomContrast::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_factors(lower, upper));
  return contrast_spec(inputs[0]);
}
Result<Array> RandomContrast::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_factors(lower, upper));
  return contrasted(inputs[0], between(static_cast<float>(lower), static_cast<float>(upper), draws(seed, context)),
                    context);
}

Result<LeafSpec> RandomHue::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_max_delta(max_delta, kMostHue));
  return rgb_spec(inputs[0]);
}
Result<Array> RandomHue::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_max_delta(max_delta, kMostHue));
  const auto most = static_cast<float>(max_delta);
  return hue_turned(inputs[0], between(-most, most, draws(seed, context)), context);
}

Result<LeafSpec> RandomSaturation::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_factors(lower, upper));
  return rgb_spec(inputs[0]);
}
Result<Array> RandomSaturation::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_factors(lower, upper));
  return saturated(inputs[0], between(static_cast<float>(lower), static_cast<float>(upper), draws(seed, context)),
                   context);
}

Result<LeafSpec> RandomFlipUpDown::spec(std::span<const LeafSpec> inputs) const { return flip_spec(inputs[0]); }
Result<Array> RandomFlipUpDown::apply(std::span<const Array> inputs, Context& context) const {
  Rng rng = draws(seed, context);
  return flip_some(inputs[0], context, [&] { return rng.uniform() < 0.5; }, flip_up_down);
}

Result<LeafSpec> RandomJpegQuality::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_qualities(min_jpeg_quality, max_jpeg_quality));
  return jpeg_spec(inputs[0]);
}
Result<Array> RandomJpegQuality::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_qualities(min_jpeg_quality, max_jpeg_quality));
  const int64_t more = draws(seed, context).below(max_jpeg_quality - min_jpeg_quality);
  return through_jpeg(inputs[0], min_jpeg_quality + more, false, context);
}

namespace image {

Value random_contrast(Value image, RandomContrast params) { return call(params, {std::move(image)}); }
Value random_hue(Value image, RandomHue params) { return call(params, {std::move(image)}); }
Value random_saturation(Value image, RandomSaturation params) { return call(params, {std::move(image)}); }
Value random_flip_up_down(Value image, RandomFlipUpDown params) { return call(params, {std::move(image)}); }
Value random_jpeg_quality(Value image, RandomJpegQuality params) { return call(params, {std::move(image)}); }

}  // namespace image
}  // namespace stoker
