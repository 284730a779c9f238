#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// The color operations of tf.image, with the same results. Each also accepts a batch of images.

struct AdjustContrast {
  static constexpr std::string_view kName = "adjust_contrast";
  static constexpr std::string_view kDoc =
      "Change the contrast of an image: scale the difference between each value and the mean of its channel.";
  static constexpr int kInputs = 1;

  double contrast_factor = 1;

  void describe(Fields& f) { f.required("contrast_factor", contrast_factor, "factor; above 1: more contrast"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustGamma {
  static constexpr std::string_view kName = "adjust_gamma";
  static constexpr std::string_view kDoc = "Raise each value to a power; integers are scaled to [0, 1] first.";
  static constexpr int kInputs = 1;

  double gamma = 1;
  double gain = 1;

  void describe(Fields& f) {
    f("gamma", gamma, "exponent, at least 0");
    f("gain", gain, "factor of the result");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustHue {
  static constexpr std::string_view kName = "adjust_hue";
  static constexpr std::string_view kDoc = "Rotate the hue of an RGB image.";
  static constexpr int kInputs = 1;

  double delta = 0;

  void describe(Fields& f) { f.required("delta", delta, "rotation in full turns, -1 to 1"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustSaturation {
  static constexpr std::string_view kName = "adjust_saturation";
  static constexpr std::string_view kDoc = "Multiply the saturation of an RGB image by a factor.";
  static constexpr int kInputs = 1;

  double saturation_factor = 1;

  void describe(Fields& f) { f.required("saturation_factor", saturation_factor, "factor; 0: gray, 1: unchanged"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct PerImageStandardization {
  static constexpr std::string_view kName = "per_image_standardization";
  static constexpr std::string_view kDoc = "Scale each image to mean 0 and standard deviation 1, as float32.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToGrayscale {
  static constexpr std::string_view kName = "rgb_to_grayscale";
  static constexpr std::string_view kDoc =
      "Convert an RGB image to one channel: 0.2989 red + 0.587 green + 0.114 blue.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct GrayscaleToRgb {
  static constexpr std::string_view kName = "grayscale_to_rgb";
  static constexpr std::string_view kDoc = "Convert a gray image to three equal channels.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToHsv {
  static constexpr std::string_view kName = "rgb_to_hsv";
  static constexpr std::string_view kDoc = "Convert a float RGB image from 0 to 1 to hue, saturation and value (HSV).";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct HsvToRgb {
  static constexpr std::string_view kName = "hsv_to_rgb";
  static constexpr std::string_view kDoc = "Convert a float HSV image from 0 to 1 to RGB.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToYuv {
  static constexpr std::string_view kName = "rgb_to_yuv";
  static constexpr std::string_view kDoc = "Convert a float RGB image to YUV.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct YuvToRgb {
  static constexpr std::string_view kName = "yuv_to_rgb";
  static constexpr std::string_view kDoc = "Convert a float YUV image to RGB.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToYiq {
  static constexpr std::string_view kName = "rgb_to_yiq";
  static constexpr std::string_view kDoc = "Convert a float RGB image to YIQ.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct YiqToRgb {
  static constexpr std::string_view kName = "yiq_to_rgb";
  static constexpr std::string_view kDoc = "Convert a float YIQ image to RGB.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustJpegQuality {
  static constexpr std::string_view kName = "adjust_jpeg_quality";
  static constexpr std::string_view kDoc = "Encode an image as JPEG of a given quality and decode it.";
  static constexpr int kInputs = 1;

  int64_t jpeg_quality = 95;
  std::string dct_method;

  void describe(Fields& f) {
    f.required("jpeg_quality", jpeg_quality, "quality of the JPEG, 0 to 100");
    f("dct_method", dct_method, "method of decoding: INTEGER_FAST or INTEGER_ACCURATE; empty: INTEGER_FAST");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value adjust_contrast(Value image, AdjustContrast params);
Value adjust_gamma(Value image, AdjustGamma params = {});
Value adjust_hue(Value image, AdjustHue params);
Value adjust_saturation(Value image, AdjustSaturation params);
Value per_image_standardization(Value image);
Value rgb_to_grayscale(Value image);
Value grayscale_to_rgb(Value image);
Value rgb_to_hsv(Value image);
Value hsv_to_rgb(Value image);
Value rgb_to_yuv(Value image);
Value yuv_to_rgb(Value image);
Value rgb_to_yiq(Value image);
Value yiq_to_rgb(Value image);
Value adjust_jpeg_quality(Value image, AdjustJpegQuality params);

}  // namespace image
}  // namespace stoker
