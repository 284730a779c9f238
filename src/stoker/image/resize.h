#pragma once

#include "stoker/core/result.h"
#include "stoker/image/resize_kernels.h"
#include "stoker/image/rows.h"
#include "stoker/image/spans.h"
#include "stoker/image/view.h"

namespace stoker {

// Whose pictures resizing gives.
enum class Manner {
  kTensorflow,  // tf.image.resize of TensorFlow 2, in float32
  kPillow,      // bit-equal to Image.resize, always antialiased; float32 stays unrounded
};

struct ResizeHow {
  ResizeFilter filter = ResizeFilter::kBilinear;
  bool antialias = false;  // TensorFlow's; widens the filter where the picture shrinks
  Manner manner = Manner::kTensorflow;
  bool mirrored = false;  // left is right in what comes out
};

// The type of the result: float32, or that of the picture for nearest and in
// Pillow's manner. The error names a type or a filter that the manner lacks.
Result<DType> resized_type(DType type, ResizeHow how);

// Fills `to`, whose channels and type are those to come, from `from`. Neither
// is empty. Rows that no output needs are not read.
Result<void> resize_picture(ImageView from, MutableImageView to, ResizeHow how,
                            const ResizeKernels& kernels = vector_resize_kernels());

// An axis that is resized: the whole of it, and the parts that are read and made.
struct ResizeAxis {
  int64_t from = 0;  // items of the whole picture
  int64_t to = 0;    // items of the whole result
  int64_t read_from = 0;
  int64_t read = from;
  int64_t made_from = 0;
  int64_t made = to;
};
// Sets `read` and `read_from` to what the items that are made need, or a little more.
void narrow(ResizeAxis& axis, ResizeHow how);

// The same from rows and into rows as they come. `from` are those that `down`
// and `across` read, and channels and type of what is made are those to come.
Result<void> resize_rows(RowSource& from, RowSink& sink, const ResizeAxis& down, const ResizeAxis& across,
                         ResizeHow how, const ResizeKernels& kernels = vector_resize_kernels());

}  // namespace stoker
