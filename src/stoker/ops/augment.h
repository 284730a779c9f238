#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// torchvision's augmentations of images, [height, width, channels], or of each image of a batch. The operations of
// Pillow, on uint8 images with 1 or 3 channels, are bit-identical to Pillow's. Random numbers belong to the element.
// With `seed`, they depend only on the seed and the element; without it, on the seed of the dataset.

struct Augment {
  static constexpr std::string_view kName = "augment";
  static constexpr std::string_view kDoc = "Apply one of rand_augment's operations to an image.";
  static constexpr int kInputs = 1;

  std::string operation;
  double magnitude = 0;

  void describe(Fields& f) {
    f.required("operation", operation,
               "Identity, ShearX, ShearY, TranslateX, TranslateY, Rotate, Brightness, Color, Contrast, Sharpness, "
               "Posterize, Solarize, AutoContrast or Equalize");
    f("magnitude", magnitude,
      "strength of the operation: a slope, pixels, degrees, a factor minus 1, bits or a threshold");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandAugment {
  static constexpr std::string_view kName = "rand_augment";
  static constexpr std::string_view kDoc = "Apply random operations to an image (RandAugment).";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t num_ops = 2;
  int64_t magnitude = 9;
  int64_t num_magnitude_bins = 31;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("num_ops", num_ops, "number of operations to apply");
    f("magnitude", magnitude, "strength, from 0 to num_magnitude_bins - 1");
    f("num_magnitude_bins", num_magnitude_bins, "number of strengths");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct TrivialAugment {
  static constexpr std::string_view kName = "trivial_augment";
  static constexpr std::string_view kDoc =
      "Apply one random operation of random strength to an image (TrivialAugmentWide).";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t num_magnitude_bins = 31;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("num_magnitude_bins", num_magnitude_bins, "number of strengths");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ColorJitter {
  static constexpr std::string_view kName = "color_jitter";
  static constexpr std::string_view kDoc =
      "Change brightness, contrast, saturation and hue of a uint8 or float32 image randomly, in random order.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::vector<double> brightness;
  std::vector<double> contrast;
  std::vector<double> saturation;
  std::vector<double> hue;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("brightness", brightness, "minimum and maximum factor; one number x: 1 - x to 1 + x; empty: unchanged");
    f("contrast", contrast, "as brightness");
    f("saturation", saturation, "as brightness");
    f("hue", hue,
      "minimum and maximum rotation of the hue in full turns, -0.5 to 0.5; one number x: -x to x; empty: unchanged");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomErasing {
  static constexpr std::string_view kName = "random_erasing";
  static constexpr std::string_view kDoc = "Replace a random rectangle of an image by a constant value.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double p = 0.5;
  std::vector<double> scale = {0.02, 0.33};
  std::vector<double> ratio = {0.3, 3.3};
  std::vector<double> value = {0};
  std::string layout = "HWC";
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("p", p, "probability that an image is changed, 0 to 1");
    f("scale", scale, "minimum and maximum fraction of the image's area");
    f("ratio", ratio, "minimum and maximum of height divided by width");
    f("value", value, "value of the rectangle: one number, or one number per channel");
    f("layout", layout, "order of the axes: HWC or CHW");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value augment(Value image, Augment params);
Value rand_augment(Value image, RandAugment params = {});
Value trivial_augment(Value image, TrivialAugment params = {});
Value color_jitter(Value image, ColorJitter params);
Value random_erasing(Value image, RandomErasing params = {});

}  // namespace image
}  // namespace stoker
