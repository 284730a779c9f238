#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// tf.image's work on colours, with its numbers. Pictures may be batches of them.

struct AdjustContrast {
  static constexpr std::string_view kName = "adjust_contrast";
  static constexpr std::string_view kDoc = "A picture whose channels move away from their means, or towards them.";
  static constexpr int kInputs = 1;

  double contrast_factor = 1;

  void describe(Fields& f) { f.required("contrast_factor", contrast_factor, "above 1: more contrast"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustGamma {
  static constexpr std::string_view kName = "adjust_gamma";
  static constexpr std::string_view kDoc = "A picture with each value raised to a power; integers stand for [0, 1].";
  static constexpr int kInputs = 1;

  double gamma = 1;
  double gain = 1;

  void describe(Fields& f) {
    f("gamma", gamma, "the power, at least 0");
    f("gain", gain, "what the result is multiplied by");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustHue {
  static constexpr std::string_view kName = "adjust_hue";
  static constexpr std::string_view kDoc = "A picture with all colours moved round the circle.";
  static constexpr int kInputs = 1;

  double delta = 0;

  void describe(Fields& f) { f.required("delta", delta, "-1 to 1, either of them once round"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustSaturation {
  static constexpr std::string_view kName = "adjust_saturation";
  static constexpr std::string_view kDoc = "A picture with stronger or weaker colours.";
  static constexpr int kInputs = 1;

  double saturation_factor = 1;

  void describe(Fields& f) { f.required("saturation_factor", saturation_factor, "0: grey; 1: unchanged"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct PerImageStandardization {
  static constexpr std::string_view kName = "per_image_standardization";
  static constexpr std::string_view kDoc = "A picture as float32 of mean 0 and deviation 1, or each of a batch so.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToGrayscale {
  static constexpr std::string_view kName = "rgb_to_grayscale";
  static constexpr std::string_view kDoc = "A picture of one channel: 0.2989 red, 0.587 green, 0.114 blue.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct GrayscaleToRgb {
  static constexpr std::string_view kName = "grayscale_to_rgb";
  static constexpr std::string_view kDoc = "A picture of three channels that are the one given.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToHsv {
  static constexpr std::string_view kName = "rgb_to_hsv";
  static constexpr std::string_view kDoc = "Hue, saturation and value of floats from 0 to 1.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct HsvToRgb {
  static constexpr std::string_view kName = "hsv_to_rgb";
  static constexpr std::string_view kDoc = "Red, green and blue of hue, saturation and value.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToYuv {
  static constexpr std::string_view kName = "rgb_to_yuv";
  static constexpr std::string_view kDoc = "Luma and chroma of floats, as in PAL.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct YuvToRgb {
  static constexpr std::string_view kName = "yuv_to_rgb";
  static constexpr std::string_view kDoc = "Red, green and blue of luma and chroma, as in PAL.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RgbToYiq {
  static constexpr std::string_view kName = "rgb_to_yiq";
  static constexpr std::string_view kDoc = "Luma and chroma of floats, as in NTSC.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct YiqToRgb {
  static constexpr std::string_view kName = "yiq_to_rgb";
  static constexpr std::string_view kDoc = "Red, green and blue of luma and chroma, as in NTSC.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct AdjustJpegQuality {
  static constexpr std::string_view kName = "adjust_jpeg_quality";
  static constexpr std::string_view kDoc = "A picture as it comes back from a JPEG of low quality.";
  static constexpr int kInputs = 1;

  int64_t jpeg_quality = 95;
  std::string dct_method;

  void describe(Fields& f) {
    f.required("jpeg_quality", jpeg_quality, "0 to 100");
    f("dct_method", dct_method, "of decoding: INTEGER_FAST or INTEGER_ACCURATE; empty: fast");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value adjust_contrast(Value picture, AdjustContrast params);
Value adjust_gamma(Value picture, AdjustGamma params = {});
Value adjust_hue(Value picture, AdjustHue params);
Value adjust_saturation(Value picture, AdjustSaturation params);
Value per_image_standardization(Value picture);
Value rgb_to_grayscale(Value picture);
Value grayscale_to_rgb(Value picture);
Value rgb_to_hsv(Value picture);
Value hsv_to_rgb(Value picture);
Value rgb_to_yuv(Value picture);
Value yuv_to_rgb(Value picture);
Value rgb_to_yiq(Value picture);
Value yiq_to_rgb(Value picture);
Value adjust_jpeg_quality(Value picture, AdjustJpegQuality params);

}  // namespace image
}  // namespace stoker
