#pragma once

#include "stoker/core/result.h"
#include "stoker/image/resize_kernels.h"
#include "stoker/image/rows.h"
#include "stoker/image/spans.h"
#include "stoker/image/view.h"

namespace stoker {

// Which library's results resizing reproduces.
enum class Manner {
  kTensorflow,  // tf.image.resize of TensorFlow 2, in float32
  kPillow,      // bit-identical to Image.resize, always antialiased; float32 is not rounded
};

// How an image is resized.
struct ResizeHow {
  ResizeFilter filter = ResizeFilter::kBilinear;
  bool antialias = false;  // for kTensorflow: widens the filter if the image shrinks
  Manner manner = Manner::kTensorflow;
  bool mirrored = false;  // flips the result horizontally
};

// The type of the result: that of the image for the nearest filter and for kPillow, otherwise
// float32. Fails with InvalidArgument for a type or filter that is not supported.
Result<DType> resized_type(DType type, ResizeHow how);

// Resizes `from` into `to`, which must have its channels and the type of the result. Neither may be
// empty. Rows that no output needs are not read.
Result<void> resize_image(ImageView from, MutableImageView to, ResizeHow how,
                          const ResizeKernels& kernels = vector_resize_kernels());

// A resized axis: its full length, the part of the source that is read and the part of the result
// that is computed.
struct ResizeAxis {
  int64_t from = 0;  // items of the whole image
  int64_t to = 0;    // items of the whole result
  int64_t read_from = 0;
  int64_t read = from;
  int64_t made_from = 0;
  int64_t made = to;
};
// Sets `read` and `read_from` to the items that the computed items need, or slightly more.
void narrow(ResizeAxis& axis, ResizeHow how);

// The same from a source of rows into a sink. `from` must provide the rows and columns that `down`
// and `across` read. Fails with the errors of `from`.
Result<void> resize_rows(RowSource& from, RowSink& sink, const ResizeAxis& down, const ResizeAxis& across,
                         ResizeHow how, const ResizeKernels& kernels = vector_resize_kernels());

}  // namespace stoker
