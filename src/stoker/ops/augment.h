#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// torchvision's ways to vary pictures, [height, width, channels], or each of a
// batch; those of Pillow are to the bit, on uint8 with 1 or 3 channels. Draws
// are the element's own: without `seed` from the data set's numbers, with it
// from the seed alone.

struct Augment {
  static constexpr std::string_view kName = "augment";
  static constexpr std::string_view kDoc = "One of the changes among which rand_augment chooses.";
  static constexpr int kInputs = 1;

  std::string operation;
  double magnitude = 0;

  void describe(Fields& f) {
    f.required("operation", operation,
               "Identity, ShearX, ShearY, TranslateX, TranslateY, Rotate, Brightness, Color, Contrast, Sharpness, "
               "Posterize, Solarize, AutoContrast or Equalize");
    f("magnitude", magnitude, "a slope, pixels, degrees, a factor less 1, bits or a threshold");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandAugment {
  static constexpr std::string_view kName = "rand_augment";
  static constexpr std::string_view kDoc = "A picture changed a few times as chance has it: RandAugment.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t num_ops = 2;
  int64_t magnitude = 9;
  int64_t num_magnitude_bins = 31;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("num_ops", num_ops, "how many changes");
    f("magnitude", magnitude, "how strong: a step of num_magnitude_bins");
    f("num_magnitude_bins", num_magnitude_bins, "steps, the last being the strongest");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct TrivialAugment {
  static constexpr std::string_view kName = "trivial_augment";
  static constexpr std::string_view kDoc = "A picture changed once, as much as chance has it: TrivialAugmentWide.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t num_magnitude_bins = 31;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("num_magnitude_bins", num_magnitude_bins, "steps, the last being the strongest");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ColorJitter {
  static constexpr std::string_view kName = "color_jitter";
  static constexpr std::string_view kDoc =
      "A picture of uint8 or float32 with other brightness, contrast, saturation and hue, in an order drawn too.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::vector<double> brightness;
  std::vector<double> contrast;
  std::vector<double> saturation;
  std::vector<double> hue;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("brightness", brightness, "least and greatest factor; one number x: from 1 - x to 1 + x; none: unchanged");
    f("contrast", contrast, "the same");
    f("saturation", saturation, "the same");
    f("hue", hue, "least and greatest share of the circle, within a half; one number x: from -x to x");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomErasing {
  static constexpr std::string_view kName = "random_erasing";
  static constexpr std::string_view kDoc = "A picture with a window of one value, where chance has it.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double p = 0.5;
  std::vector<double> scale = {0.02, 0.33};
  std::vector<double> ratio = {0.3, 3.3};
  std::vector<double> value = {0};
  std::string layout = "HWC";
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("p", p, "share of the pictures");
    f("scale", scale, "least and greatest share of the picture's area");
    f("ratio", ratio, "least and greatest height divided by width");
    f("value", value, "what is put there: one number, or one a channel");
    f("layout", layout, "HWC or CHW: where the channels are");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value augment(Value picture, Augment params);
Value rand_augment(Value picture, RandAugment params = {});
Value trivial_augment(Value picture, TrivialAugment params = {});
Value color_jitter(Value picture, ColorJitter params);
Value random_erasing(Value picture, RandomErasing params = {});

}  // namespace image
}  // namespace stoker
