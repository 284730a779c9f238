#include "stoker/ops/normalize.h"

#include "support/eval.h"

namespace stoker {
namespace {

Function normalize_by(Normalize params) {
  return [params](Value x) { return image::normalize(x, params); };
}

TEST(NormalizeOp, ScalesIntegersAndLaysChannelsApart) {
  const Array picture = array<uint8_t>({0, 255, 51, 102}, {1, 2, 2});
  EXPECT_EQ(*eval(normalize_by({.mean = {0, 0.5}, .std = {1, 0.5}}), {picture}),
            array<float>({0, 1, 51.0f * (1.0f / 255), (102.0f * (1.0f / 255) - 0.5f) / 0.5f}, {1, 2, 2}));
  EXPECT_EQ(*eval(normalize_by({.mean = {0}, .std = {1}, .layout = "CHW", .scale = 1}), {picture}),
            array<float>({0, 51, 255, 102}, {2, 1, 2}));
}

TEST(NormalizeOp, LeavesTheScaleOfFloats) {
  EXPECT_EQ(
      *eval(normalize_by({.mean = {1}, .std = {2}, .layout = "CHW"}), {array<double>({1, 5, 3, 7}, {2, 1, 1, 2})}),
      array<float>({0, 2, 1, 3}, {2, 2, 1, 1}));
}

TEST(NormalizeOp, RefusesWhatDoesNotFitThePicture) {
  const Array picture = array<uint8_t>({0, 255, 51, 102}, {1, 2, 2});
  EXPECT_EQ(complaint(normalize_by({.mean = {0, 0, 0}, .std = {1}}), {picture}),
            "mean has 3 numbers for a picture of 2 channels");
  EXPECT_EQ(complaint(normalize_by({.mean = {0}, .std = {1, 0}}), {picture}),
            "std has a 0, by which nothing can be divided");
  EXPECT_EQ(complaint(normalize_by({.mean = {0}, .std = {1}, .layout = "WHC"}), {picture}),
            "layout is HWC or CHW, found 'WHC'");
}

}  // namespace
}  // namespace stoker
