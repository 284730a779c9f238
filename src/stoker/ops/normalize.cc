#include "stoker/ops/normalize.h"

#include <algorithm>

#include "stoker/image/intensity.h"
#include "stoker/image/normalize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/image_dims.h"
#include "stoker/ops/image_steps.h"

namespace stoker {
namespace {

using PerChannel = InlineVector<float, 4>;

Result<PerChannel> for_channels(const std::vector<double>& values, int64_t channels, std::string_view name) {
  const auto wanted = static_cast<size_t>(channels);
  PerChannel result;
  if (values.size() == 1 || values.size() == wanted) {
    for (size_t c = 0; c < wanted; ++c) result.push_back(static_cast<float>(values[values.size() == 1 ? 0 : c]));
    return result;
  }
  return Error::invalid(name, " has ", values.size(), " numbers, expected 1 or one for each of the ", channels,
                        " channels");
}

Result<void> check_deviations(const std::vector<double>& std) {
  if (!std::ranges::any_of(std, [](double value) { return static_cast<float>(value) == 0; })) return {};
  return Error::invalid("std contains 0, expected numbers other than 0");
}

std::vector<int64_t> laid_out(Dims dims, Layout layout) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  if (layout == Layout::kPlanes) std::rotate(result.end() - 3, result.end() - 1, result.end());
  return result;
}

}  // namespace

Result<Normalization> Normalize::how(DType type, int64_t channels) const {
  STOKER_TRY(check_deviations(std));
  Normalization how;
  how.scale = scale ? static_cast<float>(*scale) : unit_scale(type);
  STOKER_TRY(how.mean, for_channels(mean, channels, "mean"));
  STOKER_TRY(how.std, for_channels(std, channels, "std"));
  return how;
}

Result<Layout> Normalize::order() const {
  if (layout == "HWC") return Layout::kPixels;
  if (layout == "CHW") return Layout::kPlanes;
  return Error::invalid("layout must be HWC or CHW, got '", layout, "'");
}

Result<LeafSpec> Normalize::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const Layout order, this->order());
  STOKER_TRY(check_deviations(std));
  if (inputs[0].type) STOKER_TRY(check_intensity(*inputs[0].type));
  LeafSpec spec{DType::kFloat32, {}};
  if (!inputs[0].shape) return spec;
  const Dims dims = *inputs[0].shape;
  STOKER_TRY(check_image(dims));
  if (dims.back() >= 0) STOKER_TRY(this->how(DType::kFloat32, dims.back()));
  spec.shape = laid_out(dims, order);
  return spec;
}

Result<Array> Normalize::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const Layout order, this->order());
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(check_image(from.shape()));
  STOKER_TRY(const Normalization how, this->how(from.type(), from.shape().back()));
  STOKER_TRY(Array out, context.result(laid_out(from.shape(), order), DType::kFloat32));
  auto* to = static_cast<float*>(out.mutable_raw());
  for (int64_t i = 0; i < images_in(from.shape()); ++i) {
    const ImageView image = image_view(from, i);
    normalize_image(image, how, order, to);
    to += image.height * image.row_size();
  }
  return out;
}

Contribution Normalize::contribution() const {
  const Result<Layout> order = this->order();
  if (!order) return {};
  const auto normalization = [op = *this](DType type, int64_t channels) { return op.how(type, channels); };
  if (*order == Layout::kPlanes) return Contribution::of(PlanesStep{normalization});
  return Contribution::of(RowStep{[normalization](const RowInput& input) -> std::optional<RowKernel> {
    if (input.channels == 0) return std::nullopt;
    const Result<Normalization> how = normalization(input.type, input.channels);
    if (!how) return std::nullopt;
    return RowKernel{DType::kFloat32, [type = input.type, how = *how](const void* row, int64_t width, int64_t channels,
                                                                      void* to, Wanted) {
                       normalize_row(row, type, width, how, {static_cast<float*>(to), channels, 1});
                     }};
  }});
}

namespace image {

Value normalize(Value image, Normalize params) { return call(std::move(params), {std::move(image)}); }

}  // namespace image
}  // namespace stoker
