#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stoker/core/rng.h"
#include "stoker/image/crop.h"
#include "stoker/image/view.h"

namespace stoker {

// The operations among which torchvision's RandAugment and TrivialAugmentWide choose, for uint8
// images with 1 or 3 channels. Geometric operations use the nearest pixel and fill with black.
enum class Augmentation {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
};

// The names of torchvision, such as "ShearX".
std::string_view name_of(Augmentation augmentation);
std::optional<Augmentation> augmentation_named(std::string_view name);
std::span<const Augmentation> all_augmentations();

// Applies an operation. `magnitude` is a slope, a number of pixels, degrees, a factor minus 1, a
// number of bits or a threshold, and must satisfy is_magnitude(). `to` has the size of `from` and
// must not overlap it.
void augment(const ImageView& from, Augmentation augmentation, double magnitude, const MutableImageView& to);
bool is_magnitude(Augmentation augmentation, double magnitude);

// An operation and its magnitude, chosen at random.
struct DrawnAugmentation {
  Augmentation augmentation = Augmentation::kIdentity;
  double magnitude = 0;
};

// One step of RandAugment: any operation, at step `magnitude` of `bins`, with a random sign.
DrawnAugmentation draw_rand_augment(Rng& rng, int64_t magnitude, int64_t bins, int64_t height, int64_t width);
// TrivialAugmentWide: any operation at any step of its wider ranges, with a random sign.
DrawnAugmentation draw_trivial_augment(Rng& rng, int64_t bins);

// torchvision's RandomErasing: a window whose share of the area is within `scale` and whose ratio
// height / width is within `ratio`. Tries ten times and returns nothing if no window fits.
std::optional<CropBox> draw_erased(Rng& rng, int64_t height, int64_t width, const DrawRange& scale,
                                   const DrawRange& ratio);

}  // namespace stoker
