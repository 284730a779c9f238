#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct Normalization;
enum class Layout;

// Computes (float32(x) * scale - mean) / std. Each step is rounded to float32.
struct Normalize {
  static constexpr std::string_view kName = "normalize";
  static constexpr std::string_view kDoc =
      "Compute (x * scale - mean) / std for each channel of an image or a batch, as float32.";
  static constexpr int kInputs = 1;

  std::vector<double> mean;
  std::vector<double> std;
  std::string layout = "HWC";
  std::optional<double> scale;

  void describe(Fields& f) {
    f.required("mean", mean, "mean of the scaled values: one number per channel, or one for all");
    f.required("std", std, "standard deviation of the scaled values: one number per channel, or one for all; not 0");
    f("layout", layout, "order of the axes of the result: HWC, or CHW as in PyTorch");
    f("scale", scale, "factor; null: 1 for floats, and 1 divided by the largest value for integers (1/255 for uint8)");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  Result<Normalization> how(DType type, int64_t channels) const;
  Result<Layout> order() const;
  Contribution contribution() const;
};

namespace image {

Value normalize(Value image, Normalize params);

}  // namespace image
}  // namespace stoker
