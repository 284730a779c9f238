#pragma once

#include <functional>
#include <optional>

#include "stoker/codecs/jpeg.h"
#include "stoker/graph/op.h"
#include "stoker/image/crop.h"
#include "stoker/image/normalize.h"
#include "stoker/image/resize.h"
#include "stoker/image/row_math.h"

namespace stoker {

// What an operation can contribute to a chain of image operations: `contribution()` of the operation returns one of
// these steps, and image_chain() composes them (docs/design/images.md). A step must compute the same bits and fail with
// the same errors as the operation does outside a chain. Several threads call its functions at the same time.

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

// Starts a chain: decodes bytes to uint8 of shape [height, width, channels].
struct DecodeStep {
  JpegOptions jpeg;  // for JPEG, which is decoded row by row
  int channels = 0;  // 0: unknown before the image is decoded
  // Decodes any other format. A result of rank 4 is an animation.
  std::function<Result<Array>(const Array& bytes, Context&)> decode;
};

// Crops a window. The window may extend beyond the image, and is black there.
struct CropStep {
  std::function<Result<CropBox>(ImageSize, const Context&)> box;
};

// Resizes the image, or a window of it. A chain has at most one resize.
struct ResizeStep {
  ResizeHow how;
  std::function<Result<ImageSize>(ImageSize)> size;  // from the size of the image or the window to that of the result
  std::optional<CropStep> crop;
};

// Flips the image horizontally if the function returns true.
struct FlipStep {
  std::function<bool(const Context&)> flips;
};

// The rows that reach a row step.
struct RowInput {
  DType type = DType::kUint8;
  int channels = 0;       // 0: unknown before the image is decoded
  const ChainLink& link;  // the operation and its constant inputs; valid during the call
};

// Converts a row of `width` pixels.
struct RowKernel {
  DType to = DType::kFloat32;
  // Null: the rows remain as they are.
  std::function<void(const void* row, int64_t width, int64_t channels, void* to, Wanted)> apply;
};

// Converts the pixels of each row to another type or to other values. Returns nothing if rows of this kind are not
// supported; the chain then ends before the operation.
struct RowStep {
  std::function<std::optional<RowKernel>(const RowInput&)> kernel_for;
};

// Ends a chain: normalizes rows into planes of float32, [channels, height, width].
struct PlanesStep {
  std::function<Result<Normalization>(DType type, int64_t channels)> normalization;
};

// Returns constant `i` of a link whose previous result has the given type. A plain number is converted as it is outside
// a chain.
Result<Array> constant_of(const ChainLink& link, size_t i, DType type);

}  // namespace stoker
