#pragma once

#include <optional>
#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Random changes of images. Random numbers belong to the element. With `seed`, they depend only on the seed and the
// element, so two operations with the same seed draw the same numbers.

struct RandomContrast {
  static constexpr std::string_view kName = "random_contrast";
  static constexpr std::string_view kDoc = "Change the contrast of an image by a random factor.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double lower = 0;
  double upper = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("lower", lower, "minimum factor, at least 0");
    f.required("upper", upper, "maximum factor, not included");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomHue {
  static constexpr std::string_view kName = "random_hue";
  static constexpr std::string_view kDoc = "Rotate the hue of an RGB image randomly.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double max_delta = 0;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("max_delta", max_delta, "the rotation in full turns is drawn from [-max_delta, max_delta); 0 to 0.5");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomSaturation {
  static constexpr std::string_view kName = "random_saturation";
  static constexpr std::string_view kDoc = "Multiply the saturation of an RGB image by a random factor.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double lower = 0;
  double upper = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("lower", lower, "minimum factor, at least 0");
    f.required("upper", upper, "maximum factor, not included");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomFlipUpDown {
  static constexpr std::string_view kName = "random_flip_up_down";
  static constexpr std::string_view kDoc = "Flip an image, or each image of a batch, vertically with probability 1/2.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::optional<int64_t> seed;

  void describe(Fields& f) { f("seed", seed, "seed of the random numbers; null: the dataset's seed"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomJpegQuality {
  static constexpr std::string_view kName = "random_jpeg_quality";
  static constexpr std::string_view kDoc = "Encode an image as JPEG of a random quality and decode it.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t min_jpeg_quality = 0;
  int64_t max_jpeg_quality = 100;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("min_jpeg_quality", min_jpeg_quality, "minimum quality, at least 0");
    f.required("max_jpeg_quality", max_jpeg_quality, "maximum quality, not included; at most 100");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value random_contrast(Value image, RandomContrast params);
Value random_hue(Value image, RandomHue params);
Value random_saturation(Value image, RandomSaturation params);
Value random_flip_up_down(Value image, RandomFlipUpDown params = {});
Value random_jpeg_quality(Value image, RandomJpegQuality params);

}  // namespace image
}  // namespace stoker
