#include "stoker/ops/color.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Array bytes() { return array<uint8_t>({10, 20, 30, 200, 100, 50, 0, 255, 7, 9, 9, 9}, {2, 2, 3}); }

// tests/python/image_golden_test.py compares the values with TensorFlow's.

OP_EXAMPLE(AdjustContrast{.contrast_factor = 1.5}, image_rows);
OP_EXAMPLE(AdjustGamma{.gamma = 2}, float_image_rows);
OP_EXAMPLE(AdjustHue{.delta = 0.1}, image_rows);
OP_EXAMPLE(AdjustSaturation{.saturation_factor = 0.5}, image_rows);
OP_EXAMPLE(PerImageStandardization{}, image_rows);
OP_EXAMPLE(RgbToGrayscale{}, image_rows);
OP_EXAMPLE(GrayscaleToRgb{}, gray_image_rows);
OP_EXAMPLE(RgbToHsv{}, float_image_rows);
OP_EXAMPLE(HsvToRgb{}, float_image_rows);
OP_EXAMPLE(RgbToYuv{}, float_image_rows);
OP_EXAMPLE(YuvToRgb{}, float_image_rows);
OP_EXAMPLE(RgbToYiq{}, float_image_rows);
OP_EXAMPLE(YiqToRgb{}, float_image_rows);
OP_EXAMPLE(AdjustJpegQuality{.jpeg_quality = 60}, image_rows);

TEST(ColorOps, KeepTypeAndShape) {
  const std::vector<Function> same = {
      [](Value x) { return image::adjust_contrast(x, {.contrast_factor = 1}); },
      [](Value x) { return image::adjust_gamma(x); },
      [](Value x) { return image::adjust_hue(x, {.delta = 0}); },
      [](Value x) { return image::adjust_saturation(x, {.saturation_factor = 1}); },
  };
  for (const Function& function : same) {
    EXPECT_EQ(*eval(function, {bytes()}), bytes());
    const Array batch = bytes().reshaped(std::vector<int64_t>{2, 1, 2, 3});
    EXPECT_EQ(*eval(function, {batch}), batch);
    EXPECT_EQ(eval(function, {array<double>({0.1, 0.2, 0.3}, {1, 1, 3})})->type(), DType::kFloat64);
  }
}

TEST(ColorOps, ConvertToGrayAndBack) {
  const Function both = [](Value x) { return image::grayscale_to_rgb(image::rgb_to_grayscale(x)); };
  EXPECT_EQ(*eval(both, {array<uint8_t>({255, 255, 255, 0, 0, 0}, {1, 2, 3})}),
            array<uint8_t>({255, 255, 255, 0, 0, 0}, {1, 2, 3}));
  EXPECT_EQ(complaint([](Value x) { return image::grayscale_to_rgb(x); }, {bytes()}),
            "expected a gray image with 1 channel, got shape [2, 2, 3]");
}

TEST(ColorOps, StandardizeEachImageOfABatch) {
  const Array batch = array<uint8_t>({1, 3, 10, 30}, {2, 1, 2, 1});
  EXPECT_EQ(*eval([](Value x) { return image::per_image_standardization(x); }, {batch}),
            array<float>({-1, 1, -1, 1}, {2, 1, 2, 1}));
  EXPECT_EQ(
      eval([](Value x) { return image::per_image_standardization(x); }, {array<uint8_t>({}, {0, 1, 2, 1})})->count(),
      0);
}

TEST(ColorOps, ConvertFloatsToOtherColorSpaces) {
  const Array pixel = array<float>({0.5, 0.25, 0.25}, {3});
  EXPECT_EQ(*eval([](Value x) { return image::rgb_to_hsv(x); }, {pixel}), array<float>({0, 0.5, 0.5}, {3}));
  EXPECT_EQ(*eval([](Value x) { return image::hsv_to_rgb(image::rgb_to_hsv(x)); }, {pixel}), pixel);
  EXPECT_NEAR(eval([](Value x) { return image::yuv_to_rgb(image::rgb_to_yuv(x)); }, {pixel})->values<float>()[0], 0.5,
              1e-6);
  EXPECT_NEAR(eval([](Value x) { return image::yiq_to_rgb(image::rgb_to_yiq(x)); }, {pixel})->values<float>()[0], 0.5,
              1e-4);
  EXPECT_EQ(complaint([](Value x) { return image::rgb_to_hsv(x); }, {bytes()}), "expected a float image, got uint8");
}

TEST(ColorOps, EncodeAndDecodeJpeg) {
  const Array flat = array<uint8_t>(std::vector<uint8_t>(48, 128), {4, 4, 3});
  EXPECT_EQ(*eval([](Value x) { return image::adjust_jpeg_quality(x, {.jpeg_quality = 30}); }, {flat}), flat);
  const Array grey = array<float>(std::vector<float>(16, 1), {4, 4, 1});
  EXPECT_EQ(*eval([](Value x) { return image::adjust_jpeg_quality(x, {.jpeg_quality = 30}); }, {grey}), grey);
  EXPECT_EQ(complaint([](Value x) { return image::adjust_jpeg_quality(x, {.jpeg_quality = 30}); },
                      {array<uint8_t>({1, 2}, {1, 1, 2})}),
            "expected one image with 1 or 3 channels to encode as JPEG, got shape [1, 1, 2]");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_jpeg_quality(x, {.jpeg_quality = 101}); }, {flat}),
            "jpeg_quality must be 0 to 100, got 101");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_jpeg_quality(x, {50, "FAST"}); }, {flat}),
            "dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got 'FAST'");
}

TEST(ColorOps, RejectInvalidImagesAndParameters) {
  const Array grey = array<uint8_t>({1, 2}, {1, 2, 1});
  EXPECT_EQ(complaint([](Value x) { return image::adjust_hue(x, {.delta = 0.1}); }, {grey}),
            "expected an RGB image with 3 channels, got shape [1, 2, 1]");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_hue(x, {.delta = 1.1}); }, {bytes()}),
            "delta must be -1 to 1, got 1.1");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_gamma(x, {.gamma = -1}); }, {grey}),
            "gamma must be at least 0, got -1");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_contrast(x, {.contrast_factor = 2}); },
                      {array<uint8_t>({1, 2}, {1, 2})}),
            "expected an image of shape [height, width, channels] or a batch of images, got shape [1, 2]");
  EXPECT_EQ(complaint([](Value x) { return image::adjust_saturation(x, {.saturation_factor = 2}); },
                      {array<std::string>({"a", "b", "c"})}),
            "expected an image of integers or floats, got string");
}

}  // namespace
}  // namespace stoker
