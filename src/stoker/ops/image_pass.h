#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/ops/image_steps.h"

namespace stoker {

// A step of one operation, with the operation's name for errors and its number for Context::set_op.
template <typename Step>
struct NamedStep {
  Step step;
  std::string_view op;
  uint64_t draws = 0;
};

// The steps of a fused chain, in the order in which an image passes through them.
struct ImageSteps {
  DecodeStep decode;
  std::vector<NamedStep<CropStep>> crops_before;  // the resize, if there is one
  std::optional<NamedStep<ResizeStep>> resize;
  std::vector<NamedStep<CropStep>> crops_after;
  std::vector<NamedStep<FlipStep>> flips;
  std::vector<RowKernel> rows;
  std::optional<NamedStep<PlanesStep>> planes;
};

// Returns an operation that decodes an image and applies the steps to it in one pass. `links` are the operations that
// the steps replace; they process animations, one operation at a time.
std::shared_ptr<const Op> image_pass(ImageSteps steps, std::vector<ChainLink> links);

}  // namespace stoker
