#pragma once

#include <optional>
#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Flips, brightness and type conversion of images. Random numbers belong to the element. With `seed`, they depend only
// on the seed and the element, so two operations with the same seed draw the same numbers.

struct FlipLeftRight {
  static constexpr std::string_view kName = "flip_left_right";
  static constexpr std::string_view kDoc = "Flip an image, or each image of a batch, horizontally.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Contribution contribution() const;
};

struct FlipUpDown {
  static constexpr std::string_view kName = "flip_up_down";
  static constexpr std::string_view kDoc = "Flip an image, or each image of a batch, vertically.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomFlipLeftRight {
  static constexpr std::string_view kName = "random_flip_left_right";
  static constexpr std::string_view kDoc =
      "Flip an image, or each image of a batch, horizontally with probability 1/2.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::optional<int64_t> seed;

  void describe(Fields& f) { f("seed", seed, "seed of the random numbers; null: the dataset's seed"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Contribution contribution() const;
};

struct AdjustBrightness {
  static constexpr std::string_view kName = "adjust_brightness";
  static constexpr std::string_view kDoc =
      "Add a number to an image; integers are scaled to [0, 1] first and stay in their range.";
  static constexpr int kInputs = 1;

  double delta = 0;

  void describe(Fields& f) { f.required("delta", delta, "number to add; 1 is the largest value of an integer type"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomBrightness {
  static constexpr std::string_view kName = "random_brightness";
  static constexpr std::string_view kDoc = "Add a random number to an image.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double max_delta = 0;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("max_delta", max_delta, "the number is drawn from [-max_delta, max_delta)");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ConvertImageDtype {
  static constexpr std::string_view kName = "convert_image_dtype";
  static constexpr std::string_view kDoc =
      "Convert an image to another type and scale it: floats from 0 to 1 become integers from 0 to the largest value.";
  static constexpr int kInputs = 1;

  DType dtype = DType::kFloat32;
  bool saturate = false;

  void describe(Fields& f) {
    f.required("dtype", dtype, "type of the result");
    f("saturate", saturate, "clip values that do not fit; false: they wrap around");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Contribution contribution() const;
};

namespace image {

Value flip_left_right(Value image);
Value flip_up_down(Value image);
Value random_flip_left_right(Value image, RandomFlipLeftRight params = {});
Value adjust_brightness(Value image, AdjustBrightness params);
Value random_brightness(Value image, RandomBrightness params);
Value convert_image_dtype(Value image, ConvertImageDtype params);

}  // namespace image
}  // namespace stoker
