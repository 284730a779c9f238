#pragma once

#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Random changes of images that depend only on a seed. The second input is the seed, two integers. The numbers are
// those that TensorFlow draws for it.

struct StatelessRandomBrightness {
  static constexpr std::string_view kName = "stateless_random_brightness";
  static constexpr std::string_view kDoc = "Add a number to an image that is drawn from the seed.";
  static constexpr int kInputs = 2;

  double max_delta = 0;

  void describe(Fields& f) { f.required("max_delta", max_delta, "the number is drawn from [-max_delta, max_delta)"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomContrast {
  static constexpr std::string_view kName = "stateless_random_contrast";
  static constexpr std::string_view kDoc = "Change the contrast of an image by a factor that is drawn from the seed.";
  static constexpr int kInputs = 2;

  double lower = 0;
  double upper = 1;

  void describe(Fields& f) {
    f.required("lower", lower, "minimum factor, at least 0");
    f.required("upper", upper, "maximum factor, not included");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomHue {
  static constexpr std::string_view kName = "stateless_random_hue";
  static constexpr std::string_view kDoc = "Rotate the hue of an RGB image by an amount that is drawn from the seed.";
  static constexpr int kInputs = 2;

  double max_delta = 0;

  void describe(Fields& f) {
    f.required("max_delta", max_delta, "the rotation in full turns is drawn from [-max_delta, max_delta); 0 to 0.5");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomSaturation {
  static constexpr std::string_view kName = "stateless_random_saturation";
  static constexpr std::string_view kDoc =
      "Multiply the saturation of an RGB image by a factor that is drawn from the seed.";
  static constexpr int kInputs = 2;

  double lower = 0;
  double upper = 1;

  void describe(Fields& f) {
    f.required("lower", lower, "minimum factor, at least 0");
    f.required("upper", upper, "maximum factor, not included");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomJpegQuality {
  static constexpr std::string_view kName = "stateless_random_jpeg_quality";
  static constexpr std::string_view kDoc =
      "Encode an image as JPEG of a quality that is drawn from the seed, and decode it.";
  static constexpr int kInputs = 2;

  int64_t min_jpeg_quality = 0;
  int64_t max_jpeg_quality = 100;

  void describe(Fields& f) {
    f.required("min_jpeg_quality", min_jpeg_quality, "minimum quality, at least 0");
    f.required("max_jpeg_quality", max_jpeg_quality, "maximum quality, not included; at most 100");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomFlipLeftRight {
  static constexpr std::string_view kName = "stateless_random_flip_left_right";
  static constexpr std::string_view kDoc =
      "Flip an image, or each image of a batch, horizontally with probability 1/2, drawn from the seed.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomFlipUpDown {
  static constexpr std::string_view kName = "stateless_random_flip_up_down";
  static constexpr std::string_view kDoc =
      "Flip an image, or each image of a batch, vertically with probability 1/2, drawn from the seed.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomCrop {
  static constexpr std::string_view kName = "stateless_random_crop";
  static constexpr std::string_view kDoc =
      "Crop a part of a given shape out of an array, at a position that is drawn from the seed.";
  static constexpr int kInputs = 2;

  std::vector<int64_t> size;

  void describe(Fields& f) { f.required("size", size, "shape of the result, including the channels"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value stateless_random_brightness(Value image, Value seed, StatelessRandomBrightness params);
Value stateless_random_contrast(Value image, Value seed, StatelessRandomContrast params);
Value stateless_random_hue(Value image, Value seed, StatelessRandomHue params);
Value stateless_random_saturation(Value image, Value seed, StatelessRandomSaturation params);
Value stateless_random_jpeg_quality(Value image, Value seed, StatelessRandomJpegQuality params);
Value stateless_random_flip_left_right(Value image, Value seed);
Value stateless_random_flip_up_down(Value image, Value seed);
Value stateless_random_crop(Value image, Value seed, StatelessRandomCrop params);

}  // namespace image
}  // namespace stoker
