#include "stoker/ops/normalize.h"

#include "support/eval.h"
#include "support/op_example.h"

namespace stoker {
namespace {

Function normalize_by(Normalize params) {
  return [params](Value x) { return image::normalize(x, params); };
}

OP_EXAMPLE(Normalize{.mean = {0.5}, .std = {0.2}, .layout = "CHW"}, image_rows);

TEST(NormalizeOp, ScalesIntegersAndSeparatesChannels) {
  const Array image = array<uint8_t>({0, 255, 51, 102}, {1, 2, 2});
  EXPECT_EQ(*eval(normalize_by({.mean = {0, 0.5}, .std = {1, 0.5}}), {image}),
            array<float>({0, 1, 51.0f * (1.0f / 255), (102.0f * (1.0f / 255) - 0.5f) / 0.5f}, {1, 2, 2}));
  EXPECT_EQ(*eval(normalize_by({.mean = {0}, .std = {1}, .layout = "CHW", .scale = 1}), {image}),
            array<float>({0, 51, 255, 102}, {2, 1, 2}));
}

TEST(NormalizeOp, DoesNotScaleFloats) {
  EXPECT_EQ(
      *eval(normalize_by({.mean = {1}, .std = {2}, .layout = "CHW"}), {array<double>({1, 5, 3, 7}, {2, 1, 1, 2})}),
      array<float>({0, 2, 1, 3}, {2, 2, 1, 1}));
}

TEST(NormalizeOp, RejectsParametersThatDoNotFitTheImage) {
  const Array image = array<uint8_t>({0, 255, 51, 102}, {1, 2, 2});
  EXPECT_EQ(complaint(normalize_by({.mean = {0, 0, 0}, .std = {1}}), {image}),
            "mean has 3 numbers, expected 1 or one for each of the 2 channels");
  EXPECT_EQ(complaint(normalize_by({.mean = {0}, .std = {1, 0}}), {image}),
            "std contains 0, expected numbers other than 0");
  EXPECT_EQ(complaint(normalize_by({.mean = {0}, .std = {1}, .layout = "WHC"}), {image}),
            "layout must be HWC or CHW, got 'WHC'");
}

}  // namespace
}  // namespace stoker
