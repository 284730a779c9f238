#include "stoker/ops/resize_how.h"

#include <algorithm>

namespace stoker {
namespace {

struct Method {
  std::string_view name;
  ResizeFilter filter;
};
constexpr Method kMethods[] = {{"bilinear", ResizeFilter::kBilinear}, {"nearest", ResizeFilter::kNearest},
                               {"bicubic", ResizeFilter::kBicubic},   {"area", ResizeFilter::kArea},
                               {"lanczos3", ResizeFilter::kLanczos3}, {"lanczos5", ResizeFilter::kLanczos5},
                               {"gaussian", ResizeFilter::kGaussian}, {"mitchellcubic", ResizeFilter::kMitchellCubic}};

}  // namespace

Result<ResizeHow> resize_how(std::string_view method, bool antialias, std::string_view like) {
  const auto* found = std::ranges::find(kMethods, method, &Method::name);
  if (found == std::end(kMethods))
    return Error::invalid(
        "method must be bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic, got '", method,
        "'");
  if (!like.empty() && like != "pillow") return Error::invalid("like must be '' or 'pillow', got '", like, "'");
  return ResizeHow{found->filter, antialias, like == "pillow" ? Manner::kPillow : Manner::kTensorflow};
}

}  // namespace stoker
