#pragma once

#include "stoker/core/spec.h"
#include "stoker/graph/context.h"
#include "stoker/image/intensity.h"

namespace stoker {

// Shared by adjust_*, random_* and stateless_random_*: an image is changed by a number that is a parameter or was
// drawn. Integers are scaled to [0, 1] and computed as floats.

Result<void> check_rgb(Dims dims);

Result<LeafSpec> intensity_spec(const LeafSpec& input);  // any shape
Result<LeafSpec> contrast_spec(const LeafSpec& input);   // an image or a batch
Result<LeafSpec> rgb_spec(const LeafSpec& input);        // three channels
Result<LeafSpec> jpeg_spec(const LeafSpec& input);       // one image with one or three channels

Result<Array> brightened(const Array& from, float delta, Context& context);
Result<Array> contrasted(const Array& from, float factor, Context& context);
Result<Array> hue_turned(const Array& from, float delta, Context& context);
Result<Array> saturated(const Array& from, float factor, Context& context);
Result<Array> through_jpeg(const Array& from, int64_t quality, bool accurate, Context& context);

// Check the ranges from which random_* operations draw.
Result<void> check_max_delta(double max_delta, double most);
Result<void> check_factors(double lower, double upper);
Result<void> check_qualities(int64_t least, int64_t most);

// Calls `compute(const float* from, float* to)` with all values as float32 and converts the result back to their type.
// `to_dims` is the shape of the result.
template <typename Compute>
Result<Array> in_floats(const Array& from, Dims to_dims, bool saturate, Context& context, Compute compute) {
  STOKER_TRY(check_intensity(from.type()));
  if (from.type() == DType::kFloat32) {
    STOKER_TRY(Array out, context.result(to_dims, DType::kFloat32));
    compute(static_cast<const float*>(from.raw()), static_cast<float*>(out.mutable_raw()));
    return out;
  }
  STOKER_TRY(Array in, context.scratch(from.shape(), DType::kFloat32));
  convert_intensity(from.raw(), from.type(), in.mutable_raw(), DType::kFloat32, false, from.count());
  STOKER_TRY(Array made, context.scratch(to_dims, DType::kFloat32));
  compute(static_cast<const float*>(in.raw()), static_cast<float*>(made.mutable_raw()));
  STOKER_TRY(Array out, context.result(to_dims, from.type()));
  convert_intensity(made.raw(), DType::kFloat32, out.mutable_raw(), from.type(), saturate, made.count());
  return out;
}

}  // namespace stoker
