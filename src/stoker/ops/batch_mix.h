#pragma once

#include <optional>
#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// MixUp and CutMix on batches, as torchvision has them: each row meets the one
// before it, the first the last. What is drawn is a value of its own, which the
// pictures and their labels share.

struct MixupShare {
  static constexpr std::string_view kName = "mixup_share";
  static constexpr std::string_view kDoc = "The share that rows keep in a mixup: float32, of Beta(alpha, alpha).";
  static constexpr int kInputs = 1;  // what will be mixed
  static constexpr bool kRandom = true;

  double alpha = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("alpha", alpha, "1: any share alike; less: mostly near 0 or 1");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: rows, and the share that each keeps.
struct Mixup {
  static constexpr std::string_view kName = "mixup";
  static constexpr std::string_view kDoc = "A batch as float32, each row mixed with the one before it.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct CutmixBox {
  static constexpr std::string_view kName = "cutmix_box";
  static constexpr std::string_view kDoc = "The window of a cutmix: top, left, height and width, int64.";
  static constexpr int kInputs = 1;  // the pictures
  static constexpr bool kRandom = true;

  double alpha = 1;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f("alpha", alpha, "of Beta(alpha, alpha), the share that pictures keep before the window is cut at borders");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: pictures, and the window.
struct Cutmix {
  static constexpr std::string_view kName = "cutmix";
  static constexpr std::string_view kDoc = "A batch of pictures, each with a window of the one before it.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: pictures, and the window.
struct CutmixShare {
  static constexpr std::string_view kName = "cutmix_share";
  static constexpr std::string_view kDoc = "The share of a picture that a window leaves, float32.";
  static constexpr int kInputs = 2;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Inputs: labels, int or one-hot, and the share that each keeps.
struct MixLabels {
  static constexpr std::string_view kName = "mix_labels";
  static constexpr std::string_view kDoc = "Labels as float32 for each class, each row mixed with the one before it.";
  static constexpr int kInputs = 2;

  int64_t num_classes = 0;

  void describe(Fields& f) { f("num_classes", num_classes, "of labels that are numbers of classes"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

// Pictures and labels together.
struct MixParams {
  int64_t num_classes = 0;  // of labels that are numbers of classes
  double alpha = 1;
  std::optional<int64_t> seed;
};

namespace image {

struct Mixed {
  Value pictures;
  Value labels;
};
Mixed mixup(Value pictures, Value labels, MixParams params = {});
Mixed cutmix(Value pictures, Value labels, MixParams params = {});

}  // namespace image
}  // namespace stoker
