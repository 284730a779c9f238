#pragma once

#include <algorithm>

#include "stoker/ops/call.h"

namespace stoker {

// Inverts an image: each value v becomes highest - v.
struct Invert {
  static constexpr std::string_view kName = "invert";
  static constexpr std::string_view kDoc = "Subtract each value from the highest one.";
  static constexpr int kInputs = 1;

  int64_t highest = 255;

  void describe(Fields& f) { f("highest", highest, "the result for 0, from 0 to 255"); }

  // The type and shape of the result, before anything runs. Also validates the parameters.
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const {
    if (highest < 0 || highest > 255) return Error::invalid("highest is ", highest, ", expected 0 to 255");
    if (inputs[0].type && *inputs[0].type != DType::kUint8)
      return Error::invalid("expected uint8, got ", name_of(*inputs[0].type));
    return inputs[0];
  }

  Result<Array> apply(std::span<const Array> inputs, Context& context) const {
    const Array& x = inputs[0];
    if (x.type() != DType::kUint8) return Error::invalid("expected uint8, got ", name_of(x.type()));
    STOKER_TRY(Array out, context.result(x.shape(), x.type()));  // in its row of the batch, if that exists
    std::ranges::transform(x.values<uint8_t>(), out.mutable_values<uint8_t>().begin(),
                           [this](uint8_t v) { return static_cast<uint8_t>(std::max<int64_t>(highest - v, 0)); });
    return out;
  }
};

inline Value invert(Value image, Invert params = {}) { return call(params, {std::move(image)}); }

}  // namespace stoker
