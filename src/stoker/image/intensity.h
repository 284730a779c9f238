#pragma once

#include <cstdint>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

namespace stoker {

// Values of pictures: integers from 0 to the highest of their type stand for
// [0, 1], as in tf.image.

// The error names a type that is neither integer nor float.
Result<void> check_intensity(DType type);

// tf.image.convert_image_dtype on `count` values. Integers are scaled by whole
// numbers, integers to floats by the reciprocal of their highest, floats to
// integers by their highest and a half; floats alone are only cast. Without
// `saturate`, what does not fit wraps as x86 has it.
void convert_intensity(const void* from, DType from_type, void* to, DType to_type, bool saturate, int64_t count);

// tf.image.adjust_brightness: `delta` is added on the scale of [0, 1], in
// float32 (float16 stays so), and what leaves an integer's range stops at its end.
void adjust_brightness(const void* from, DType type, float delta, void* to, int64_t count);

}  // namespace stoker
