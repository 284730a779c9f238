#include "stoker/ops/stateless_image.h"

#include <limits>

#include "stoker/image/flip.h"
#include "stoker/ops/call.h"
#include "stoker/ops/color_change.h"
#include "stoker/ops/flip_some.h"
#include "stoker/ops/part.h"
#include "stoker/ops/stateless_draws.h"

namespace stoker {
namespace {

constexpr double kAnyDelta = std::numeric_limits<double>::infinity();
constexpr double kMostHue = 0.5;

Result<float> drawn_factor(const Array& seed, double lower, double upper) {
  STOKER_TRY(check_factors(lower, upper));
  STOKER_TRY(StatelessDraws draws, StatelessDraws::of(seed));
  return draws.between(static_cast<float>(lower), static_cast<float>(upper));
}

Result<float> drawn_delta(const Array& seed, double max_delta, double most) {
  STOKER_TRY(check_max_delta(max_delta, most));
  STOKER_TRY(StatelessDraws draws, StatelessDraws::of(seed));
  return draws.between(static_cast<float>(-max_delta), static_cast<float>(max_delta));
}

// A single image is flipped if the number is below 1/2, an image of a batch if it is above, as in TensorFlow.
template <typename Flip>
Result<Array> flipped(std::span<const Array> inputs, Context& context, Flip flip) {
  STOKER_TRY(StatelessDraws draws, StatelessDraws::of(inputs[1]));
  const bool batch = inputs[0].rank() == 4;
  const auto wanted = [&] {
    const float drawn = draws.uniform();
    return batch ? drawn > 0.5f : drawn < 0.5f;
  };
  return flip_some(inputs[0], context, wanted, flip);
}

}  // namespace

Result<LeafSpec> StatelessRandomBrightness::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_max_delta(max_delta, kAnyDelta));
  STOKER_TRY(check_seed_spec(inputs[1]));
  return intensity_spec(inputs[0]);
}
Result<Array> StatelessRandomBrightness::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const float delta, drawn_delta(inputs[1], max_delta, kAnyDelta));
  return brightened(inputs[0], delta, context);
}

Result<LeafSpec> StatelessRandomContrast::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_factors(lower, upper));
  STOKER_TRY(check_seed_spec(inputs[1]));
  return contrast_spec(inputs[0]);
}
Result<Array> StatelessRandomContrast::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const float factor, drawn_factor(inputs[1], lower, upper));
  return contrasted(inputs[0], factor, context);
}

Result<LeafSpec> StatelessRandomHue::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_max_delta(max_delta, kMostHue));
  STOKER_TRY(check_seed_spec(inputs[1]));
  return rgb_spec(inputs[0]);
}
Result<Array> StatelessRandomHue::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const float delta, drawn_delta(inputs[1], max_delta, kMostHue));
  return hue_turned(inputs[0], delta, context);
}

Result<LeafSpec> StatelessRandomSaturation::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_factors(lower, upper));
  STOKER_TRY(check_seed_spec(inputs[1]));
  return rgb_spec(inputs[0]);
}
Result<Array> StatelessRandomSaturation::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const float factor, drawn_factor(inputs[1], lower, upper));
  return saturated(inputs[0], factor, context);
}

Result<LeafSpec> StatelessRandomJpegQuality::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_qualities(min_jpeg_quality, max_jpeg_quality));
  STOKER_TRY(check_seed_spec(inputs[1]));
  return jpeg_spec(inputs[0]);
}
Result<Array> StatelessRandomJpegQuality::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_qualities(min_jpeg_quality, max_jpeg_quality));
  STOKER_TRY(StatelessDraws draws, StatelessDraws::of(inputs[1]));
  return through_jpeg(inputs[0], draws.between(min_jpeg_quality, max_jpeg_quality), false, context);
}

Result<LeafSpec> StatelessRandomFlipLeftRight::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_seed_spec(inputs[1]));
  return flip_spec(inputs[0]);
}
Result<Array> StatelessRandomFlipLeftRight::apply(std::span<const Array> inputs, Context& context) const {
  return flipped(inputs, context, flip_left_right);
}

Result<LeafSpec> StatelessRandomFlipUpDown::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_seed_spec(inputs[1]));
  return flip_spec(inputs[0]);
}
Result<Array> StatelessRandomFlipUpDown::apply(std::span<const Array> inputs, Context& context) const {
  return flipped(inputs, context, flip_up_down);
}

Result<LeafSpec> StatelessRandomCrop::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_seed_spec(inputs[1]));
  return part_spec(inputs[0], size);
}
// Takes the remainder twice, as TensorFlow does.
Result<Array> StatelessRandomCrop::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(StatelessDraws draws, StatelessDraws::of(inputs[1]));
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  return drawn_part(inputs[0], size, context,
                    [&](int64_t places) { return draws.between(int64_t{0}, kHighest) % places; });
}

namespace image {

Value stateless_random_brightness(Value image, Value seed, StatelessRandomBrightness params) {
  return call(params, {std::move(image), std::move(seed)});
}
Value stateless_random_contrast(Value image, Value seed, StatelessRandomContrast params) {
  return call(params, {std::move(image), std::move(seed)});
}
Value stateless_random_hue(Value image, Value seed, StatelessRandomHue params) {
  return call(params, {std::move(image), std::move(seed)});
}
Value stateless_random_saturation(Value image, Value seed, StatelessRandomSaturation params) {
  return call(params, {std::move(image), std::move(seed)});
}
Value stateless_random_jpeg_quality(Value image, Value seed, StatelessRandomJpegQuality params) {
  return call(params, {std::move(image), std::move(seed)});
}
Value stateless_random_flip_left_right(Value image, Value seed) {
  return call(StatelessRandomFlipLeftRight{}, {std::move(image), std::move(seed)});
}
Value stateless_random_flip_up_down(Value image, Value seed) {
  return call(StatelessRandomFlipUpDown{}, {std::move(image), std::move(seed)});
}
Value stateless_random_crop(Value image, Value seed, StatelessRandomCrop params) {
  return call(std::move(params), {std::move(image), std::move(seed)});
}

}  // namespace image
}  // namespace stoker
