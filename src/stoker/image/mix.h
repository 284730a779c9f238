#pragma once

#include "stoker/core/rng.h"
#include "stoker/image/crop.h"

namespace stoker {

// torchvision's MixUp and CutMix: each row of a batch is mixed with the row before it, the first
// with the last.

// Draws the share that a row keeps from the Beta distribution with both parameters equal to
// `alpha`, which is above 0. Returns the same bits on every machine.
double draw_share(Rng& rng, double alpha);

// The window of CutMix for a share: about 1 - share of the area, clipped at the borders.
CropBox draw_mix_box(Rng& rng, double share, int64_t height, int64_t width);

// share * row + (1 - share) * previous row, with `size` floats per row.
void mix_rows(const float* from, int64_t rows, int64_t size, float share, float* to);

}  // namespace stoker
