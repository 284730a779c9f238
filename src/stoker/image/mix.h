#pragma once

#include "stoker/core/rng.h"
#include "stoker/image/crop.h"

namespace stoker {

// Mixing each row of a batch with the one before it, the first with the last:
// torchvision's MixUp and CutMix.

// Of the Beta distribution with both parameters `alpha`, above 0: the share that
// a row keeps. The same bits on every machine.
double draw_share(Rng& rng, double alpha);

// CutMix's window for a share: about 1 - share of the area, cut at the borders.
CropBox draw_mix_box(Rng& rng, double share, int64_t height, int64_t width);

// share * row + (1 - share) * the row before, of `size` floats each.
void mix_rows(const float* from, int64_t rows, int64_t size, float share, float* to);

}  // namespace stoker
