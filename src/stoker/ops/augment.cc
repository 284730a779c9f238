#include "stoker/ops/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "stoker/image/augment.h"
#include "stoker/image/color.h"
#include "stoker/image/enhance.h"
#include "stoker/image/intensity.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/range.h"

namespace stoker {
namespace {

// ---- Pillow's operations

Result<void> check_bytes(const LeafSpec& input) {
  if (input.type && *input.type != DType::kUint8)
    return Error::invalid("expected a uint8 image, got ", name_of(*input.type));
  if (!input.shape) return {};
  STOKER_TRY(check_image(*input.shape));
  const int64_t channels = input.shape->back();
  if (channels < 0 || channels == 1 || channels == 3) return {};
  return Error::invalid("expected an image with 1 or 3 channels, got shape ", shape_text(*input.shape));
}

LeafSpec spec_of(const Array& array) {
  return {array.type(), std::vector<int64_t>(array.shape().begin(), array.shape().end())};
}

Result<LeafSpec> bytes_spec(const LeafSpec& input) {
  STOKER_TRY(check_bytes(input));
  return LeafSpec{DType::kUint8, input.shape};
}

// Changes each image `steps` times, by the operations that `draw(i)` returns for image i.
template <typename Draw>
Result<Array> augmented(const Array& from, int64_t steps, Context& context, Draw draw) {
  STOKER_TRY(check_bytes(spec_of(from)));
  if (steps == 0) return from;
  STOKER_TRY(Array out, context.result(from.shape(), DType::kUint8));
  Array spare;
  if (steps > 1) {
    STOKER_TRY(spare, context.scratch(from.shape().last(3), DType::kUint8));
  }
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    ImageView now = image_view(from, i);
    for (int64_t left = steps; left > 0; --left) {
      // The last step writes to `out`.
      const MutableImageView next = left % 2 == 1 ? image_view(out, i) : image_view(spare);
      const DrawnAugmentation drawn = draw(now);
      augment(now, drawn.augmentation, drawn.magnitude, next);
      now = next;
    }
  }
  return out;
}

Result<DrawnAugmentation> named(const Augment& op) {
  const std::optional<Augmentation> augmentation = augmentation_named(op.operation);
  if (!augmentation) {
    std::string names;
    for (Augmentation known : all_augmentations()) names += (names.empty() ? "" : ", ") + std::string(name_of(known));
    return Error::invalid("operation must be one of ", names, ", got '", op.operation, "'");
  }
  if (is_magnitude(*augmentation, op.magnitude)) return DrawnAugmentation{*augmentation, op.magnitude};
  return Error::invalid("magnitude ", op.magnitude, " is outside the range of ", op.operation);
}

Result<void> check_bins(int64_t bins) {
  if (bins >= 2) return {};
  return Error::invalid("num_magnitude_bins must be at least 2, got ", bins);
}

Result<void> check_steps(const RandAugment& op) {
  constexpr int64_t kMostOps = 100;
  STOKER_TRY(check_bins(op.num_magnitude_bins));
  if (op.num_ops < 0 || op.num_ops > kMostOps)
    return Error::invalid("num_ops must be 0 to ", kMostOps, ", got ", op.num_ops);
  if (op.magnitude >= 0 && op.magnitude < op.num_magnitude_bins) return {};
  return Error::invalid("magnitude must be 0 to ", op.num_magnitude_bins - 1, ", got ", op.magnitude);
}

// ---- color jitter

// The four ranges in the order of torchvision's parameters. An empty range means no change.
struct Jitter {
  std::array<std::optional<DrawRange>, 4> ranges;  // brightness, contrast, saturation, hue
};
constexpr size_t kHue = 3;

Result<std::optional<DrawRange>> jitter_range(const std::vector<double>& given, std::string_view name, bool hue) {
  if (given.empty()) return std::optional<DrawRange>();
  const double least = hue ? -0.5 : 0, most = hue ? 0.5 : 1e6, middle = hue ? 0 : 1;
  DrawRange range{};
  if (given.size() == 1 && given[0] >= 0)
    range = {std::max(least, middle - given[0]), middle + given[0]};
  else if (given.size() == 2)
    range = {given[0], given[1]};
  else
    return Error::invalid(name, " must be one number of at least 0 or two numbers, got a list of ", given.size());
  if (range[0] >= least && range[0] <= range[1] && range[1] <= most) return std::optional<DrawRange>(range);
  return Error::invalid(name, " must be between ", least, " and ", most, ", got ", range[0], " to ", range[1]);
}

Result<Jitter> jitter_of(const ColorJitter& op) {
  Jitter jitter;
  STOKER_TRY(jitter.ranges[0], jitter_range(op.brightness, "brightness", false));
  STOKER_TRY(jitter.ranges[1], jitter_range(op.contrast, "contrast", false));
  STOKER_TRY(jitter.ranges[2], jitter_range(op.saturation, "saturation", false));
  STOKER_TRY(jitter.ranges[kHue], jitter_range(op.hue, "hue", true));
  return jitter;
}

Result<void> check_jitter(const LeafSpec& input) {
  if (input.type && *input.type != DType::kUint8 && *input.type != DType::kFloat32)
    return Error::invalid("expected a uint8 or float32 image, got ", name_of(*input.type));
  if (!input.shape) return {};
  STOKER_TRY(check_image(*input.shape));
  const int64_t channels = input.shape->back();
  if (channels < 0 || channels == 1 || channels == 3) return {};
  return Error::invalid("expected an image with 1 or 3 channels, got shape ", shape_text(*input.shape));
}

struct Step {
  size_t what = 0;
  float amount = 0;
};

std::vector<Step> drawn_steps(Rng& rng, const Jitter& jitter) {
  std::array<size_t, 4> order{0, 1, 2, 3};
  for (size_t i = 3; i > 0; --i)
    std::swap(order[i], order[static_cast<size_t>(rng.below(static_cast<int64_t>(i) + 1))]);
  std::array<float, 4> amounts{};
  for (size_t i = 0; i < 4; ++i)
    if (const auto& range = jitter.ranges[i])
      amounts[i] = static_cast<float>((*range)[0] + ((*range)[1] - (*range)[0]) * rng.uniform());
  std::vector<Step> steps;
  for (size_t what : order)
    if (jitter.ranges[what]) steps.push_back({what, amounts[what]});
  return steps;
}

void turn_hue(const ImageView& from, float delta, const MutableImageView& to) {
  if (from.channels != 3) return take_window(from, {0, 0, from.height, from.width}, to);
  std::vector<float> row(static_cast<size_t>(from.row_size()));
  for (int64_t y = 0; y < from.height; ++y) {
    convert_intensity(from.row<std::byte>(y), from.type, row.data(), DType::kFloat32, false, from.row_size());
    adjust_hue(row.data(), delta, row.data(), from.width);
    convert_intensity(row.data(), DType::kFloat32, to.row<std::byte>(y), from.type, true, from.row_size());
  }
}

void change_bytes(const ImageView& from, const Step& step, const MutableImageView& to) {
  switch (step.what) {
    case 0: return enhance_brightness(from, step.amount, to);
    case 1: return enhance_contrast(from, step.amount, to);
    case 2: return enhance_color(from, step.amount, to);
    default: return turn_hue(from, step.amount, to);
  }
}

// The same on floats from 0 to 1, without rounding to 256 levels.
float float_gray(const float* pixel, int64_t channels) {
  if (channels != 3) return pixel[0];
  return 0.2989f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
}

float mean_gray(const ImageView& from) {
  double sum = 0;
  for (int64_t y = 0; y < from.height; ++y)
    for (int64_t x = 0; x < from.width; ++x)
      sum += static_cast<double>(float_gray(from.row<float>(y) + x * from.channels, from.channels));
  return static_cast<float>(sum / static_cast<double>(std::max<int64_t>(1, from.height * from.width)));
}

void change_floats(const ImageView& from, const Step& step, const MutableImageView& to) {
  if (step.what == kHue) return turn_hue(from, step.amount, to);
  const float mean = step.what == 1 ? mean_gray(from) : 0;
  for (int64_t y = 0; y < from.height; ++y)
    for (int64_t x = 0; x < from.width; ++x) {
      const float* in = from.row<float>(y) + x * from.channels;
      const float without = step.what == 2 ? float_gray(in, from.channels) : mean;
      for (int64_t c = 0; c < from.channels; ++c)
        to.row<float>(y)[x * from.channels + c] =
            std::clamp(step.amount * in[c] + (1 - step.amount) * without, 0.0f, 1.0f);
    }
}

// ---- random erasing

struct Erased {
  DrawRange scale, ratio;
  bool planes = false;
};

Result<Erased> erased_of(const RandomErasing& op) {
  Erased erased;
  if (!(op.p >= 0 && op.p <= 1)) return Error::invalid("p must be 0 to 1, got ", op.p);
  STOKER_TRY(erased.scale, range_of(op.scale, "scale"));
  STOKER_TRY(erased.ratio, range_of(op.ratio, "ratio"));
  if (op.layout != "HWC" && op.layout != "CHW")
    return Error::invalid("layout must be HWC or CHW, got '", op.layout, "'");
  erased.planes = op.layout == "CHW";
  return erased;
}

Result<void> check_erasing(const RandomErasing& op, bool planes, const LeafSpec& input) {
  if (input.type) STOKER_TRY(check_intensity(*input.type));
  if (!input.shape) return {};
  STOKER_TRY(check_image(*input.shape));
  const int64_t channels = (*input.shape)[input.shape->size() - (planes ? 3 : 1)];
  if (channels < 0 || op.value.size() == 1 || op.value.size() == static_cast<size_t>(channels)) return {};
  return Error::invalid("value has ", op.value.size(), " numbers, expected 1 or one for each of the ", channels,
                        " channels");
}

// Returns the nearest value of the type.
template <typename T>
T nearest_value(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

template <typename T>
void erase(T* image, int64_t height, int64_t width, int64_t channels, bool planes, const CropBox& box,
           const std::vector<double>& value) {
  const int64_t down = planes ? width : width * channels, right = planes ? 1 : channels;
  const int64_t apart = planes ? height * width : 1;
  for (int64_t c = 0; c < channels; ++c) {
    const T put = nearest_value<T>(value[value.size() == 1 ? 0 : static_cast<size_t>(c)]);
    for (int64_t y = box.top; y < box.top + box.height; ++y)
      for (int64_t x = box.left; x < box.left + box.width; ++x) image[c * apart + y * down + x * right] = put;
  }
}

}  // namespace

Result<LeafSpec> Augment::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(named(*this));
  return bytes_spec(inputs[0]);
}
Result<Array> Augment::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const DrawnAugmentation augmentation, named(*this));
  return augmented(inputs[0], 1, context, [&](const ImageView&) { return augmentation; });
}

Result<LeafSpec> RandAugment::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_steps(*this));
  return bytes_spec(inputs[0]);
}
Result<Array> RandAugment::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_steps(*this));
  Rng rng = draws(seed, context);
  return augmented(inputs[0], num_ops, context, [&](const ImageView& now) {
    return draw_rand_augment(rng, magnitude, num_magnitude_bins, now.height, now.width);
  });
}

Result<LeafSpec> TrivialAugment::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_bins(num_magnitude_bins));
  return bytes_spec(inputs[0]);
}
Result<Array> TrivialAugment::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_bins(num_magnitude_bins));
  Rng rng = draws(seed, context);
  return augmented(inputs[0], 1, context,
                   [&](const ImageView&) { return draw_trivial_augment(rng, num_magnitude_bins); });
}

Result<LeafSpec> ColorJitter::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(jitter_of(*this));
  STOKER_TRY(check_jitter(inputs[0]));
  return inputs[0];
}
Result<Array> ColorJitter::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const Jitter jitter, jitter_of(*this));
  STOKER_TRY(check_jitter(spec_of(from)));
  Rng rng = draws(seed, context);
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  STOKER_TRY(Array spare, context.scratch(from.shape().last(3), from.type()));
  const auto change = from.type() == DType::kUint8 ? change_bytes : change_floats;
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    const std::vector<Step> steps = drawn_steps(rng, jitter);
    ImageView now = image_view(from, i);
    if (steps.empty()) take_window(now, {0, 0, now.height, now.width}, image_view(out, i));
    for (size_t k = 0; k < steps.size(); ++k) {
      const bool ends_in_out = (steps.size() - k) % 2 == 1;
      const MutableImageView next = ends_in_out ? image_view(out, i) : image_view(spare);
      change(now, steps[k], next);
      now = next;
    }
  }
  return out;
}

Result<LeafSpec> RandomErasing::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const Erased erased, erased_of(*this));
  STOKER_TRY(check_erasing(*this, erased.planes, inputs[0]));
  return inputs[0];
}
Result<Array> RandomErasing::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const Erased erased, erased_of(*this));
  STOKER_TRY(check_erasing(*this, erased.planes, spec_of(from)));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  if (from.count() == 0) return out;
  std::memcpy(out.mutable_raw(), from.raw(), static_cast<size_t>(from.byte_size()));
  const Dims dims = from.shape().last(3);
  const int64_t height = dims[erased.planes ? 1 : 0], width = dims[erased.planes ? 2 : 1];
  const int64_t channels = dims[erased.planes ? 0 : 2];
  Rng rng = draws(seed, context);
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    if (rng.uniform() >= p) continue;
    const std::optional<CropBox> box = draw_erased(rng, height, width, erased.scale, erased.ratio);
    if (!box) continue;
    visit_dtype(from.type(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, Bytes> && !std::is_same_v<T, bool>)
        erase(out.mutable_values<T>().data() + i * height * width * channels, height, width, channels, erased.planes,
              *box, value);
    });
  }
  return out;
}

namespace image {

Value augment(Value image, Augment params) { return call(std::move(params), {std::move(image)}); }
Value rand_augment(Value image, RandAugment params) { return call(params, {std::move(image)}); }
Value trivial_augment(Value image, TrivialAugment params) { return call(params, {std::move(image)}); }
Value color_jitter(Value image, ColorJitter params) { return call(std::move(params), {std::move(image)}); }
Value random_erasing(Value image, RandomErasing params) { return call(std::move(params), {std::move(image)}); }

}  // namespace image
}  // namespace stoker
