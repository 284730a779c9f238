#pragma once

#include <optional>
#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Draws are the element's own: without `seed` from the data set's numbers, with
// it from the seed alone, so that two of one seed draw alike.

struct RandomContrast {
  static constexpr std::string_view kName = "random_contrast";
  static constexpr std::string_view kDoc = "A picture with more or less contrast, by chance.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double lower = 0;
  double upper = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("lower", lower, "least factor, at least 0");
    f.required("upper", upper, "the factor stays below it");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomHue {
  static constexpr std::string_view kName = "random_hue";
  static constexpr std::string_view kDoc = "A picture with its colours moved round the circle by chance.";
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

struct RandomSaturation {
  static constexpr std::string_view kName = "random_saturation";
  static constexpr std::string_view kDoc = "A picture with stronger or weaker colours, by chance.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  double lower = 0;
  double upper = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("lower", lower, "least factor, at least 0");
    f.required("upper", upper, "the factor stays below it");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomFlipUpDown {
  static constexpr std::string_view kName = "random_flip_up_down";
  static constexpr std::string_view kDoc =
      "A picture, or each of a batch, mirrored in one of two cases: top is bottom.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::optional<int64_t> seed;

  void describe(Fields& f) { f("seed", seed, "null: the data set's"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomJpegQuality {
  static constexpr std::string_view kName = "random_jpeg_quality";
  static constexpr std::string_view kDoc = "A picture as it comes back from a JPEG of a quality that is drawn.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t min_jpeg_quality = 0;
  int64_t max_jpeg_quality = 100;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("min_jpeg_quality", min_jpeg_quality, "least quality, at least 0");
    f.required("max_jpeg_quality", max_jpeg_quality, "the quality stays below it");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace image {

Value random_contrast(Value picture, RandomContrast params);
Value random_hue(Value picture, RandomHue params);
Value random_saturation(Value picture, RandomSaturation params);
Value random_flip_up_down(Value picture, RandomFlipUpDown params = {});
Value random_jpeg_quality(Value picture, RandomJpegQuality params);

}  // namespace image
}  // namespace stoker
