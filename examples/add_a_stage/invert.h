#pragma once

#include <algorithm>

#include "stoker/ops/call.h"

namespace stoker {

// The negative of a picture.
struct Invert {
  static constexpr std::string_view kName = "invert";
  static constexpr std::string_view kDoc = "Each value taken from the highest one.";
  static constexpr int kInputs = 1;

  int64_t highest = 255;

  void describe(Fields& f) { f("highest", highest, "what 0 becomes, 0 to 255"); }

  // What comes out, before anything runs; rules between parameters stand here, too.
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const {
    if (highest < 0 || highest > 255) return Error::invalid("highest is ", highest, ", it must be 0 to 255");
    if (inputs[0].type && *inputs[0].type != DType::kUint8)
      return Error::invalid("wants uint8, found ", name_of(*inputs[0].type));
    return inputs[0];
  }

  Result<Array> apply(std::span<const Array> inputs, Context& context) const {
    const Array& x = inputs[0];
    if (x.type() != DType::kUint8) return Error::invalid("wants uint8, found ", name_of(x.type()));
    STOKER_TRY(Array out, context.result(x.dims(), x.type()));  // its row of the batch, where that is known
    std::ranges::transform(x.values<uint8_t>(), out.mutable_values<uint8_t>().begin(),
                           [this](uint8_t v) { return static_cast<uint8_t>(std::max<int64_t>(highest - v, 0)); });
    return out;
  }
};

inline Value invert(Value picture, Invert params = {}) { return call(params, {std::move(picture)}); }

}  // namespace stoker
