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

// (float32(x) * scale - mean) / std, each step rounded to float32.
struct Normalize {
  static constexpr std::string_view kName = "normalize";
  static constexpr std::string_view kDoc =
      "A picture, or a batch of them, as float32: (x * scale - mean) / std of each channel, rounded at each step.";
  static constexpr int kInputs = 1;

  std::vector<double> mean;
  std::vector<double> std;
  std::string layout = "HWC";
  std::optional<double> scale;

  void describe(Fields& f) {
    f.required("mean", mean, "one number a channel, or one for all; of values after the scale");
    f.required("std", std, "the same, none of them 0");
    f("layout", layout, "HWC: channels side by side; CHW: plane by plane, as PyTorch has them");
    f("scale", scale, "null: 1 for floats, else 1 through the type's highest value, 1/255 for uint8");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  Result<Normalization> how(DType type, int64_t channels) const;
  Result<Layout> order() const;
};

namespace image {

Value normalize(Value picture, Normalize params);

}  // namespace image
}  // namespace stoker
