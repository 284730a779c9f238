#pragma once

#include <optional>
#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Those that draw do so for the element: without `seed` from the data set's
// numbers, with it from the seed alone, so that two of one seed draw alike.

struct FlipLeftRight {
  static constexpr std::string_view kName = "flip_left_right";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored: left is right.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct FlipUpDown {
  static constexpr std::string_view kName = "flip_up_down";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored: top is bottom.";
  static constexpr int kInputs = 1;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomFlipLeftRight {
  static constexpr std::string_view kName = "random_flip_left_right";
  static constexpr std::string_view kDoc = "A picture, or each of a batch, mirrored in one of two cases.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::optional<int64_t> seed;

  void describe(Fields& f) { f("seed", seed, "null: the data set's"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // Whether the element's picture, alone, is mirrored.
  bool turns(const Context& context) const;
};

struct AdjustBrightness {
  static constexpr std::string_view kName = "adjust_brightness";
  static constexpr std::string_view kDoc =
      "A picture made brighter; integers stand for [0, 1] and stay in their range.";
  static constexpr int kInputs = 1;

  double delta = 0;

  void describe(Fields& f) { f.required("delta", delta, "added, where 1 is the highest value of an integer type"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomBrightness {
  static constexpr std::string_view kName = "random_brightness";
  static constexpr std::string_view kDoc = "A picture made brighter or darker by chance.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double max_delta = 0;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("max_delta", max_delta, "the delta is drawn from [-max_delta, max_delta)");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct ConvertImageDtype {
  static constexpr std::string_view kName = "convert_image_dtype";
  static constexpr std::string_view kDoc =
      "A picture in another type: floats of [0, 1] are integers up to their highest.";
  static constexpr int kInputs = 1;

  DType dtype = DType::kFloat32;
  bool saturate = false;

  void describe(Fields& f) {
    f.required("dtype", dtype, "the type to give");
    f("saturate", saturate, "whether what does not fit becomes the nearest that does; else it wraps");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value flip_left_right(Value picture);
Value flip_up_down(Value picture);
Value random_flip_left_right(Value picture, RandomFlipLeftRight params = {});
Value adjust_brightness(Value picture, AdjustBrightness params);
Value random_brightness(Value picture, RandomBrightness params);
Value convert_image_dtype(Value picture, ConvertImageDtype params);

}  // namespace image
}  // namespace stoker
