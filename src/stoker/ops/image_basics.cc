#include "stoker/ops/image_basics.h"

#include <cstring>

#include "stoker/image/flip.h"
#include "stoker/image/intensity.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/image_steps.h"

namespace stoker {
namespace {

// Draws whether the next image of an element is flipped.
bool is_turned(Rng& rng) { return rng.uniform() < 0.5; }

Result<void> check_flip(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected an image of numbers, got ", name_of(type));
}

Result<LeafSpec> flip_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_flip(*input.type));
  if (input.shape) STOKER_TRY(check_image(*input.shape));
  return input;
}

// Calls `flip(from, to, i)` to fill image i.
template <typename Flip>
Result<Array> each_image(const Array& from, Context& context, Flip flip) {
  STOKER_TRY(check_flip(from.type()));
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) flip(image_view(from, i), image_view(out, i));
  return out;
}

void copy_image(const ImageView& from, const MutableImageView& to) {
  if (const auto bytes = static_cast<size_t>(from.height * from.stride)) std::memcpy(to.data, from.data, bytes);
}

Result<LeafSpec> intensity_spec(const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_intensity(*input.type));
  return input;
}

Result<Array> brightened(const Array& from, float delta, Context& context) {
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  adjust_brightness(from.raw(), from.type(), delta, out.mutable_raw(), from.count());
  return out;
}

Result<void> check_max_delta(double max_delta) {
  if (max_delta >= 0) return {};
  return Error::invalid("max_delta must be at least 0, got ", max_delta);
}

}  // namespace

Result<LeafSpec> FlipLeftRight::spec(std::span<const LeafSpec> inputs) const { return flip_spec(inputs[0]); }
Result<Array> FlipLeftRight::apply(std::span<const Array> inputs, Context& context) const {
  return each_image(inputs[0], context, [](ImageView from, MutableImageView to) { flip_left_right(from, to); });
}
Contribution FlipLeftRight::contribution() const {
  return Contribution::of(FlipStep{[](const Context&) { return true; }});
}

Result<LeafSpec> FlipUpDown::spec(std::span<const LeafSpec> inputs) const { return flip_spec(inputs[0]); }
Result<Array> FlipUpDown::apply(std::span<const Array> inputs, Context& context) const {
  return each_image(inputs[0], context, [](ImageView from, MutableImageView to) { flip_up_down(from, to); });
}

Result<LeafSpec> RandomFlipLeftRight::spec(std::span<const LeafSpec> inputs) const { return flip_spec(inputs[0]); }
Result<Array> RandomFlipLeftRight::apply(std::span<const Array> inputs, Context& context) const {
  Rng rng = draws(seed, context);
  return each_image(inputs[0], context, [&](ImageView from, MutableImageView to) {
    if (is_turned(rng))
      flip_left_right(from, to);
    else
      copy_image(from, to);
  });
}

Contribution RandomFlipLeftRight::contribution() const {
  return Contribution::of(FlipStep{[seed = seed](const Context& context) {
    Rng rng = draws(seed, context);
    return is_turned(rng);
  }});
}

Result<LeafSpec> AdjustBrightness::spec(std::span<const LeafSpec> inputs) const { return intensity_spec(inputs[0]); }
Result<Array> AdjustBrightness::apply(std::span<const Array> inputs, Context& context) const {
  return brightened(inputs[0], static_cast<float>(delta), context);
}

Result<LeafSpec> RandomBrightness::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_max_delta(max_delta));
  return intensity_spec(inputs[0]);
}
Result<Array> RandomBrightness::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_max_delta(max_delta));
  const auto most = static_cast<float>(max_delta);
  const float delta = draws(seed, context).uniform_float() * (most + most) - most;
  return brightened(inputs[0], delta, context);
}

Result<LeafSpec> ConvertImageDtype::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_intensity(dtype));
  if (inputs[0].type) STOKER_TRY(check_intensity(*inputs[0].type));
  return LeafSpec{dtype, inputs[0].shape};
}
Result<Array> ConvertImageDtype::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_intensity(dtype));
  STOKER_TRY(check_intensity(from.type()));
  if (from.type() == dtype) return from;
  STOKER_TRY(Array out, context.result(from.shape(), dtype));
  convert_intensity(from.raw(), from.type(), out.mutable_raw(), dtype, saturate, from.count());
  return out;
}
Contribution ConvertImageDtype::contribution() const {
  if (dtype != DType::kFloat32) return {};
  return Contribution::of(RowStep{[](const RowInput& input) -> std::optional<RowKernel> {
    if (input.type == DType::kFloat32) return RowKernel{};
    if (input.type != DType::kUint8) return std::nullopt;
    return RowKernel{DType::kFloat32, [](const void* row, int64_t width, int64_t channels, void* to, Wanted) {
                       convert_intensity(row, DType::kUint8, to, DType::kFloat32, false, width * channels);
                     }};
  }});
}

namespace image {

Value flip_left_right(Value image) { return call(FlipLeftRight{}, {std::move(image)}); }
Value flip_up_down(Value image) { return call(FlipUpDown{}, {std::move(image)}); }
Value random_flip_left_right(Value image, RandomFlipLeftRight params) { return call(params, {std::move(image)}); }
Value adjust_brightness(Value image, AdjustBrightness params) { return call(params, {std::move(image)}); }
Value random_brightness(Value image, RandomBrightness params) { return call(params, {std::move(image)}); }
Value convert_image_dtype(Value image, ConvertImageDtype params) { return call(params, {std::move(image)}); }

}  // namespace image
}  // namespace stoker
