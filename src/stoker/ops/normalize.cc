#include "stoker/ops/normalize.h"

#include <algorithm>

#include "stoker/image/intensity.h"
#include "stoker/image/normalize.h"
#include "stoker/ops/call.h"
#include "stoker/ops/picture_dims.h"

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
  return Error::invalid(name, " has ", values.size(), " numbers for a picture of ", channels, " channels");
}

Result<void> check_deviations(const std::vector<double>& std) {
  if (!std::ranges::any_of(std, [](double value) { return static_cast<float>(value) == 0; })) return {};
  return Error::invalid("std has a 0, by which nothing can be divided");
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
  return Error::invalid("layout is HWC or CHW, found '", layout, "'");
}

Result<LeafSpec> Normalize::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(const Layout order, this->order());
  STOKER_TRY(check_deviations(std));
  if (inputs[0].type) STOKER_TRY(check_intensity(*inputs[0].type));
  LeafSpec spec{DType::kFloat32, {}};
  if (!inputs[0].shape) return spec;
  const Dims dims = *inputs[0].shape;
  STOKER_TRY(check_picture(dims));
  if (dims.back() >= 0) STOKER_TRY(this->how(DType::kFloat32, dims.back()));
  spec.shape = laid_out(dims, order);
  return spec;
}

Result<Array> Normalize::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(const Layout order, this->order());
  STOKER_TRY(check_intensity(from.type()));
  STOKER_TRY(check_picture(from.dims()));
  STOKER_TRY(const Normalization how, this->how(from.type(), from.dims().back()));
  STOKER_TRY(Array out, context.result(laid_out(from.dims(), order), DType::kFloat32));
  auto* to = static_cast<float*>(out.mutable_raw());
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i) {
    const ImageView picture = picture_of(from, i);
    normalize_picture(picture, how, order, to);
    to += picture.height * picture.row_size();
  }
  return out;
}

namespace image {

Value normalize(Value picture, Normalize params) { return call(std::move(params), {std::move(picture)}); }

}  // namespace image
}  // namespace stoker
