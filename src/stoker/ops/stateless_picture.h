#pragma once

#include <span>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// The second input is the seed, two whole numbers; draws are TensorFlow's own for
// it, whoever runs them.

struct StatelessRandomBrightness {
  static constexpr std::string_view kName = "stateless_random_brightness";
  static constexpr std::string_view kDoc = "A picture made brighter or darker as the seed has it.";
  static constexpr int kInputs = 2;

  double max_delta = 0;

  void describe(Fields& f) { f.required("max_delta", max_delta, "the delta is drawn from [-max_delta, max_delta)"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomContrast {
  static constexpr std::string_view kName = "stateless_random_contrast";
  static constexpr std::string_view kDoc = "A picture with more or less contrast, as the seed has it.";
  static constexpr int kInputs = 2;

  double lower = 0;
  double upper = 1;

  void describe(Fields& f) {
    f.required("lower", lower, "least factor, at least 0");
    f.required("upper", upper, "the factor stays below it");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomHue {
  static constexpr std::string_view kName = "stateless_random_hue";
  static constexpr std::string_view kDoc = "A picture with its colours moved round the circle as the seed has it.";
  static constexpr int kInputs = 2;

  double max_delta = 0;

  void describe(Fields& f) { f.required("max_delta", max_delta, "the delta is drawn from [-max_delta, max_delta)"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomSaturation {
  static constexpr std::string_view kName = "stateless_random_saturation";
  static constexpr std::string_view kDoc = "A picture with stronger or weaker colours, as the seed has it.";
  static constexpr int kInputs = 2;

  double lower = 0;
  double upper = 1;

  void describe(Fields& f) {
    f.required("lower", lower, "least factor, at least 0");
    f.required("upper", upper, "the factor stays below it");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomJpegQuality {
  static constexpr std::string_view kName = "stateless_random_jpeg_quality";
  static constexpr std::string_view kDoc = "A picture as it comes back from a JPEG of the quality the seed has.";
  static constexpr int kInputs = 2;

  int64_t min_jpeg_quality = 0;
  int64_t max_jpeg_quality = 100;

  void describe(Fields& f) {
    f.required("min_jpeg_quality", min_jpeg_quality, "least quality, at least 0");
    f.required("max_jpeg_quality", max_jpeg_quality, "the quality stays below it");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomFlipLeftRight {
  static constexpr std::string_view kName = "stateless_random_flip_left_right";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored if the seed has it: left is right.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomFlipUpDown {
  static constexpr std::string_view kName = "stateless_random_flip_up_down";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored if the seed has it: top is bottom.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct StatelessRandomCrop {
  static constexpr std::string_view kName = "stateless_random_crop";
  static constexpr std::string_view kDoc = "A part of an array, of a given shape, from where the seed has it.";
  static constexpr int kInputs = 2;

  std::vector<int64_t> size;

  void describe(Fields& f) { f.required("size", size, "the shape to give, channels included"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value stateless_random_brightness(Value picture, Value seed, StatelessRandomBrightness params);
Value stateless_random_contrast(Value picture, Value seed, StatelessRandomContrast params);
Value stateless_random_hue(Value picture, Value seed, StatelessRandomHue params);
Value stateless_random_saturation(Value picture, Value seed, StatelessRandomSaturation params);
Value stateless_random_jpeg_quality(Value picture, Value seed, StatelessRandomJpegQuality params);
Value stateless_random_flip_left_right(Value picture, Value seed);
Value stateless_random_flip_up_down(Value picture, Value seed);
Value stateless_random_crop(Value picture, Value seed, StatelessRandomCrop params);

}  // namespace image
}  // namespace stoker
