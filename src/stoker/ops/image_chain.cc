#include "stoker/ops/image_chain.h"

#include <vector>

#include "stoker/ops/image_pass.h"

namespace stoker {
namespace {

// Adds the contributions of operations to a pass, in order, as long as they fit.
class Composer {
 public:
  explicit Composer(const DecodeStep& decode) : channels_(decode.channels) { steps_.decode = decode; }

  // Returns false if the chain ends before this operation.
  bool add(const ChainLink& link) {
    if (steps_.planes) return false;
    const Contribution contribution = link.op->contribution();
    if (const auto* crop = contribution.as<CropStep>()) return add_crop(link, *crop);
    if (const auto* resize = contribution.as<ResizeStep>()) return add_resize(link, *resize);
    if (const auto* flip = contribution.as<FlipStep>()) return add_flip(link, *flip);
    if (const auto* rows = contribution.as<RowStep>()) return add_rows(link, *rows);
    if (const auto* planes = contribution.as<PlanesStep>()) return add_planes(link, *planes);
    return false;
  }

  ImageSteps take() { return std::move(steps_); }

 private:
  // Flips reverse the weights of the resize and row steps run after it, so neither can precede a crop or a resize.
  bool geometry_is_open() const { return steps_.flips.empty() && steps_.rows.empty(); }

  bool add_crop(const ChainLink& link, const CropStep& crop) {
    if (!geometry_is_open()) return false;
    (steps_.resize ? steps_.crops_after : steps_.crops_before).push_back(part_of(link, crop));
    return true;
  }

  bool add_resize(const ChainLink& link, const ResizeStep& resize) {
    if (steps_.resize || !geometry_is_open()) return false;
    const Result<DType> type = resized_type(type_, resize.how);
    if (!type) return false;
    type_ = *type;
    steps_.resize = part_of(link, resize);
    if (resize.crop) steps_.crops_before.push_back(part_of(link, *resize.crop));
    return true;
  }

  bool add_flip(const ChainLink& link, const FlipStep& flip) {
    steps_.flips.push_back(part_of(link, flip));
    return true;
  }

  bool add_rows(const ChainLink& link, const RowStep& rows) {
    std::optional<RowKernel> kernel = rows.kernel_for({type_, channels_, link});
    if (!kernel) return false;
    if (!kernel->apply) return true;
    type_ = kernel->to;
    steps_.rows.push_back(*std::move(kernel));
    return true;
  }

  // An operation with invalid parameters is not fused, so that it reports the error itself.
  bool add_planes(const ChainLink& link, const PlanesStep& planes) {
    if (channels_ == 0 || !planes.normalization(type_, channels_)) return false;
    steps_.planes = part_of(link, planes);
    return true;
  }

  template <typename Step>
  static NamedStep<Step> part_of(const ChainLink& link, const Step& step) {
    return {step, link.op->type().name, link.draws};
  }

  const int channels_;  // 0: unknown before the image is decoded
  DType type_ = DType::kUint8;
  ImageSteps steps_;
};

}  // namespace

Chain image_chain(std::span<const ChainLink> links) {
  const Contribution first = links[0].op->contribution();
  const auto* decode = first.as<DecodeStep>();
  if (!decode) return {};
  Composer composer(*decode);
  size_t length = 1;
  while (length < links.size() && composer.add(links[length])) ++length;
  if (length == 1) return {};
  return {image_pass(composer.take(), {links.begin(), links.begin() + static_cast<ptrdiff_t>(length)}), length};
}

}  // namespace stoker
