#include "stoker/image/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "stoker/core/power.h"
#include "stoker/image/enhance.h"

namespace stoker {
namespace {

constexpr int kAttempts = 10;

struct Named {
  std::string_view name;
  Augmentation augmentation;
};
constexpr Named kNames[] = {
    {"Identity", Augmentation::kIdentity},
    {"ShearX", Augmentation::kShearX},
    {"ShearY", Augmentation::kShearY},
    {"TranslateX", Augmentation::kTranslateX},
    {"TranslateY", Augmentation::kTranslateY},
    {"Rotate", Augmentation::kRotate},
    {"Brightness", Augmentation::kBrightness},
    {"Color", Augmentation::kColor},
    {"Contrast", Augmentation::kContrast},
    {"Sharpness", Augmentation::kSharpness},
    {"Posterize", Augmentation::kPosterize},
    {"Solarize", Augmentation::kSolarize},
    {"AutoContrast", Augmentation::kAutoContrast},
    {"Equalize", Augmentation::kEqualize},
};
constexpr auto kAll = [] {
  std::array<Augmentation, std::size(kNames)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kNames[i].augmentation;
  return all;
}();

// The magnitudes at the last step.
struct Limits {
  double shear, translate_x, translate_y, rotate, enhance;
  int posterize;  // bits removed
};

double most_of(Augmentation augmentation, const Limits& limits) {
  switch (augmentation) {
    case Augmentation::kShearX:
    case Augmentation::kShearY: return limits.shear;
    case Augmentation::kTranslateX: return limits.translate_x;
    case Augmentation::kTranslateY: return limits.translate_y;
    case Augmentation::kRotate: return limits.rotate;
    case Augmentation::kBrightness:
    case Augmentation::kColor:
    case Augmentation::kContrast:
    case Augmentation::kSharpness: return limits.enhance;
    default: return 0;
  }
}

// The magnitude at a step, without its sign.
double at_step(Augmentation augmentation, const Limits& limits, int64_t step, int64_t bins) {
  const double share = bins > 1 ? static_cast<double>(step) / static_cast<double>(bins - 1) : 0;
  if (augmentation == Augmentation::kPosterize) return 8 - std::nearbyint(share * limits.posterize);
  if (augmentation == Augmentation::kSolarize) return 255 - 255 * share;
  return most_of(augmentation, limits) * share;
}

DrawnAugmentation drawn(Rng& rng, Augmentation augmentation, const Limits& limits, int64_t step, int64_t bins) {
  const double magnitude = at_step(augmentation, limits, step, bins);
  const bool either_way = most_of(augmentation, limits) > 0;
  return {augmentation, either_way && rng.below(2) == 1 ? -magnitude : magnitude};
}

Augmentation any(Rng& rng) { return kAll[static_cast<size_t>(rng.below(std::ssize(kAll)))]; }

}  // namespace

std::string_view name_of(Augmentation augmentation) {
  return std::ranges::find(kNames, augmentation, &Named::augmentation)->name;
}

std::optional<Augmentation> augmentation_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &Named::name);
  if (found == std::end(kNames)) return std::nullopt;
  return found->augmentation;
}

std::span<const Augmentation> all_augmentations() { return kAll; }

bool is_magnitude(Augmentation augmentation, double magnitude) {
  switch (augmentation) {
    case Augmentation::kShearX:
    case Augmentation::kShearY: return std::abs(magnitude) <= 100;
    case Augmentation::kTranslateX:
    case Augmentation::kTranslateY: return std::abs(magnitude) <= 1e6;
    case Augmentation::kRotate: return std::abs(magnitude) <= 360;
    case Augmentation::kPosterize: return magnitude >= 0 && magnitude <= 8;
    default: return std::abs(magnitude) <= 1e6;
  }
}

void augment(const ImageView& from, Augmentation augmentation, double magnitude, const MutableImageView& to) {
  const auto factor = static_cast<float>(1 + magnitude);
  switch (augmentation) {
    case Augmentation::kIdentity: return take_window(from, {0, 0, from.height, from.width}, to);
    case Augmentation::kShearX: return affine_nearest(from, {1, magnitude, 0, 0, 1, 0}, to);
    case Augmentation::kShearY: return affine_nearest(from, {1, 0, 0, magnitude, 1, 0}, to);
    case Augmentation::kTranslateX: return affine_nearest(from, {1, 0, -std::trunc(magnitude), 0, 1, 0}, to);
    case Augmentation::kTranslateY: return affine_nearest(from, {1, 0, 0, 0, 1, -std::trunc(magnitude)}, to);
    case Augmentation::kRotate: return affine_nearest(from, rotation(magnitude, from.height, from.width), to);
    case Augmentation::kBrightness: return enhance_brightness(from, factor, to);
    case Augmentation::kColor: return enhance_color(from, factor, to);
    case Augmentation::kContrast: return enhance_contrast(from, factor, to);
    case Augmentation::kSharpness: return enhance_sharpness(from, factor, to);
    case Augmentation::kPosterize: return posterize(from, static_cast<int>(magnitude), to);
    case Augmentation::kSolarize: return solarize(from, magnitude, to);
    case Augmentation::kAutoContrast: return stretch_contrast(from, to);
    case Augmentation::kEqualize: return equalize(from, to);
  }
}

DrawnAugmentation draw_rand_augment(Rng& rng, int64_t magnitude, int64_t bins, int64_t height, int64_t width) {
  const Limits limits{.shear = 0.3,
                      .translate_x = 150.0 / 331.0 * static_cast<double>(width),
                      .translate_y = 150.0 / 331.0 * static_cast<double>(height),
                      .rotate = 30,
                      .enhance = 0.9,
                      .posterize = 4};
  const Augmentation augmentation = any(rng);
  return drawn(rng, augmentation, limits, magnitude, bins);
}

DrawnAugmentation draw_trivial_augment(Rng& rng, int64_t bins) {
  constexpr Limits kLimits{
      .shear = 0.99, .translate_x = 32, .translate_y = 32, .rotate = 135, .enhance = 0.99, .posterize = 6};
  const Augmentation augmentation = any(rng);
  return drawn(rng, augmentation, kLimits, rng.below(bins), bins);
}

std::optional<CropBox> draw_erased(Rng& rng, int64_t height, int64_t width, const DrawRange& scale,
                                   const DrawRange& ratio) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (int i = 0; i < kAttempts; ++i) {
    const double share = area * (scale[0] + (scale[1] - scale[0]) * rng.uniform());
    const double shape = ratio[0] * power_of(ratio[1] / ratio[0], rng.uniform());
    const double rows = std::nearbyint(std::sqrt(share * shape)), columns = std::nearbyint(std::sqrt(share / shape));
    if (!(rows < static_cast<double>(height) && columns < static_cast<double>(width))) continue;
    const auto to_height = static_cast<int64_t>(rows), to_width = static_cast<int64_t>(columns);
    const int64_t top = rng.below(height - to_height + 1);
    return CropBox{top, rng.below(width - to_width + 1), to_height, to_width};
  }
  return std::nullopt;
}

}  // namespace stoker
