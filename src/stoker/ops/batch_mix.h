#pragma once

#include <optional>
#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// MixUp and CutMix on batches, as in torchvision: each row is mixed with the row before it, and the first row with the
// last. The drawn ratio or window is a value of its own, so that images and labels use the same one.

struct MixupShare {
  static constexpr std::string_view kName = "mixup_share";
  static constexpr std::string_view kDoc = "Draw the float32 mixing ratio of a mixup from Beta(alpha, alpha).";
  static constexpr int kInputs = 1;  // the batch to mix
  static constexpr bool kRandom = true;

  double alpha = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("alpha", alpha, "parameter of the beta distribution, above 0; 1: uniform; smaller: mostly near 0 or 1");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: a batch, and the weight of each row; the row before it gets the rest.
struct Mixup {
  static constexpr std::string_view kName = "mixup";
  static constexpr std::string_view kDoc = "Mix each row of a batch with the row before it; the result is float32.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct CutmixBox {
  static constexpr std::string_view kName = "cutmix_box";
  static constexpr std::string_view kDoc = "Draw the window of a cutmix: top, left, height and width, as int64.";
  static constexpr int kInputs = 1;  // the images
  static constexpr bool kRandom = true;

  double alpha = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("alpha", alpha,
      "parameter of Beta(alpha, alpha), from which the kept fraction of an image is drawn before the window is "
      "clipped");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: images, and the window.
struct Cutmix {
  static constexpr std::string_view kName = "cutmix";
  static constexpr std::string_view kDoc =
      "Replace a window of each image of a batch by the same window of the image before it.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: images, and the window.
struct CutmixShare {
  static constexpr std::string_view kName = "cutmix_share";
  static constexpr std::string_view kDoc = "Return the fraction of an image outside a window, as float32.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: labels, integers or one-hot, and the weight of each row.
struct MixLabels {
  static constexpr std::string_view kName = "mix_labels";
  static constexpr std::string_view kDoc =
      "Mix each row of labels with the row before it; the result is float32 with one number per class.";
  static constexpr int kInputs = 2;

  int64_t num_classes = 0;

  void describe(Fields& f) { f("num_classes", num_classes, "number of classes, required if the labels are integers"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Mixes images and labels together.
struct MixParams {
  int64_t num_classes = 0;  // required if the labels are integers
  double alpha = 1;
  std::optional<int64_t> seed;
};

namespace image {

struct Mixed {
  Value images;
  Value labels;
};
Mixed mixup(Value images, Value labels, MixParams params = {});
Mixed cutmix(Value images, Value labels, MixParams params = {});

}  // namespace image
}  // namespace stoker
