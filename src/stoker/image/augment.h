#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stoker/core/rng.h"
#include "stoker/image/crop.h"
#include "stoker/image/view.h"

namespace stoker {

// The changes among which torchvision's RandAugment and TrivialAugmentWide
// choose, on uint8 pictures of 1 or 3 channels, by nearest pixels and black fill.
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

// torchvision's names: "ShearX".
std::string_view name_of(Augmentation augmentation);
std::optional<Augmentation> augmentation_named(std::string_view name);
std::span<const Augmentation> all_augmentations();

// `magnitude` is a slope, pixels, degrees, a factor less 1, bits or a threshold,
// and is_magnitude() of it. `to` has the size of `from` and is not `from`.
void augment(const ImageView& from, Augmentation augmentation, double magnitude, const MutableImageView& to);
bool is_magnitude(Augmentation augmentation, double magnitude);

struct DrawnAugmentation {
  Augmentation augmentation = Augmentation::kIdentity;
  double magnitude = 0;
};

// One step of RandAugment: any change, at step `magnitude` of `bins`, either way.
DrawnAugmentation draw_rand_augment(Rng& rng, int64_t magnitude, int64_t bins, int64_t height, int64_t width);
// TrivialAugmentWide: any change at any step of its wider ranges, either way.
DrawnAugmentation draw_trivial_augment(Rng& rng, int64_t bins);

// torchvision's RandomErasing: a window of a share of the area within `scale` and
// of height / width within `ratio`, tried ten times; nothing where none fits.
std::optional<CropBox> draw_erased(Rng& rng, int64_t height, int64_t width, const DrawRange& scale,
                                   const DrawRange& ratio);

}  // namespace stoker
