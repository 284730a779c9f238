#pragma once

#include <cstdint>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

namespace stoker {

// Conversion of pixel values. As in tf.image, integers from 0 to the maximum of their type
// represent [0, 1].

// Fails with InvalidArgument if the type is neither integer nor float.
Result<void> check_intensity(DType type);

// tf.image.convert_image_dtype on `count` values. Integers are scaled by whole numbers, integers to
// floats by the reciprocal of their maximum, and floats to integers by the maximum plus one half;
// floats to floats are only cast. Without `saturate`, values out of range wrap as on x86.
void convert_intensity(const void* from, DType from_type, void* to, DType to_type, bool saturate, int64_t count);

// tf.image.adjust_brightness: adds `delta`, on the scale of [0, 1], in float32 (in float16 for
// float16). Integers saturate at the ends of their range.
void adjust_brightness(const void* from, DType type, float delta, void* to, int64_t count);

}  // namespace stoker
