#include "stoker/ops/stateless_image.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

// tests/python/image_golden_test.py compares the draws with TensorFlow's.

Array seed() { return array<int64_t>({1, 2}); }
Array pixel() { return array<float>({0.5, 0.25, 0.25}, {1, 1, 3}); }

Array drawn(const Function& function, const Array& input, const Array& with) { return *eval(function, {input, with}); }

OP_EXAMPLE(StatelessRandomBrightness{.max_delta = 0.2}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomContrast{.lower = 0.5, .upper = 1.5}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomHue{.max_delta = 0.3}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomSaturation{.lower = 0.5, .upper = 1.5}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomJpegQuality{.min_jpeg_quality = 20, .max_jpeg_quality = 90}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomFlipLeftRight{}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomFlipUpDown{}, image_and_seed_rows);
OP_EXAMPLE(StatelessRandomCrop{.size = {3, 3, 3}}, image_and_seed_rows);

TEST(StatelessImages, DependOnlyOnTheSeed) {
  const std::vector<Function> functions = {
      [](Value x, Value s) { return image::stateless_random_brightness(x, s, {.max_delta = 0.5}); },
      [](Value x, Value s) { return image::stateless_random_hue(x, s, {.max_delta = 0.5}); },
      [](Value x, Value s) { return image::stateless_random_saturation(x, s, {.lower = 0.1, .upper = 1.9}); },
  };
  for (const Function& function : functions) {
    const Array made = drawn(function, pixel(), seed());
    EXPECT_EQ(made, drawn(function, pixel(), array<int32_t>({1, 2})));
    EXPECT_NE(made, drawn(function, pixel(), array<int64_t>({1, 3})));
    EXPECT_NE(made, drawn(function, pixel(), array<int64_t>({2, 1})));
  }
}

TEST(StatelessImages, KeepTypeAndShape) {
  const Array batch = array<uint8_t>(std::vector<uint8_t>(24, 9), {2, 2, 2, 3});
  for (const Function& function : std::vector<Function>{
           [](Value x, Value s) { return image::stateless_random_contrast(x, s, {.lower = 0.1, .upper = 1.9}); },
           [](Value x, Value s) { return image::stateless_random_flip_left_right(x, s); },
           [](Value x, Value s) { return image::stateless_random_flip_up_down(x, s); }})
    EXPECT_EQ(drawn(function, batch, seed()), batch);
  EXPECT_EQ(
      shape_text(drawn([](Value x, Value s) { return image::stateless_random_crop(x, s, {.size = {1, 1, 2, 2}}); },
                       batch, seed())
                     .shape()),
      "[1, 1, 2, 2]");
  const Array flat = array<uint8_t>(std::vector<uint8_t>(12, 128), {2, 2, 3});
  EXPECT_EQ(drawn([](Value x, Value s) { return image::stateless_random_jpeg_quality(x, s, {20, 90}); }, flat, seed()),
            flat);
}

TEST(StatelessImages, RejectInvalidSeeds) {
  const Function flip = [](Value x, Value s) { return image::stateless_random_flip_left_right(x, s); };
  EXPECT_EQ(complaint(flip, {pixel(), array<int64_t>({1, 2, 3})}), "the seed must be two numbers, got shape [3]");
  EXPECT_EQ(complaint(flip, {pixel(), array<float>({1, 2})}), "the seed must be int32 or int64, got float32");
}

}  // namespace
}  // namespace stoker
