#include "stoker/ops/batch_mix.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stoker/image/mix.h"
#include "stoker/ops/call.h"
#include "stoker/ops/draws.h"

namespace stoker {
namespace {

Result<void> check_alpha(double alpha) {
  constexpr double kMost = 1e6;
  if (alpha > 0 && alpha <= kMost) return {};
  return Error::invalid("alpha must be above 0 and at most ", kMost, ", got ", alpha);
}

Result<void> check_numbers(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected a batch of numbers, got ", name_of(type));
}

Result<void> check_rows(Dims dims) {
  if (!dims.empty()) return {};
  return Error::invalid("expected a batch with at least one axis, got a scalar");
}

Result<void> check_images(Dims dims) {
  if (dims.size() == 4) return {};
  return Error::invalid("expected a batch of images with 4 axes, got shape ", shape_text(dims));
}

LeafSpec spec_of(const Array& array) {
  return {array.type(), std::vector<int64_t>(array.shape().begin(), array.shape().end())};
}

Result<void> check_rows_spec(const LeafSpec& rows) {
  if (rows.type) STOKER_TRY(check_numbers(*rows.type));
  if (rows.shape) STOKER_TRY(check_rows(*rows.shape));
  return {};
}

Result<void> check_images_spec(const LeafSpec& images) {
  if (images.type) STOKER_TRY(check_numbers(*images.type));
  if (images.shape) STOKER_TRY(check_images(*images.shape));
  return {};
}

Result<void> check_share_spec(const LeafSpec& share) {
  if (share.type && *share.type != DType::kFloat32)
    return Error::invalid("the mixing ratio must be float32, got ", name_of(*share.type));
  if (share.shape && !share.shape->empty())
    return Error::invalid("the mixing ratio must be a scalar, got shape ", shape_text(*share.shape));
  return {};
}

Result<float> share_of(const Array& share) {
  STOKER_TRY(check_share_spec(spec_of(share)));
  const auto value = share.scalar<float>();
  if (value >= 0 && value <= 1) return value;
  return Error::invalid("the mixing ratio must be 0 to 1, got ", value);
}

Result<void> check_box_spec(const LeafSpec& box) {
  if (box.type && *box.type != DType::kInt64)
    return Error::invalid("the window must be int64, got ", name_of(*box.type));
  if (box.shape && (box.shape->size() != 1 || (box.shape->front() != 4 && box.shape->front() >= 0)))
    return Error::invalid("the window must be 4 numbers, got shape ", shape_text(*box.shape));
  return {};
}

Result<CropBox> box_of(const Array& box, int64_t height, int64_t width) {
  STOKER_TRY(check_box_spec(spec_of(box)));
  const auto values = box.values<int64_t>();
  const CropBox made{values[0], values[1], values[2], values[3]};
  const bool inside = made.top >= 0 && made.left >= 0 && made.height >= 0 && made.width >= 0 && made.height <= height &&
                      made.top <= height - made.height && made.width <= width && made.left <= width - made.width;
  if (inside) return made;
  return Error::invalid("a window of ", made.height, "x", made.width, " at ", made.top, ", ", made.left,
                        " does not fit images of ", height, "x", width);
}

Result<Array> as_floats(const Array& from, Context& context) {
  if (from.type() == DType::kFloat32) return from;
  STOKER_TRY(Array to, context.scratch(from.shape(), DType::kFloat32));
  visit_dtype(from.type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>)
      std::ranges::transform(from.values<T>(), to.mutable_values<float>().begin(),
                             [](T value) { return static_cast<float>(value); });
  });
  return to;
}

Result<Array> mixed(const Array& floats, float share, Context& context) {
  STOKER_TRY(Array out, context.result(floats.shape(), DType::kFloat32));
  const int64_t rows = floats.dim(0);
  if (floats.count() == 0) return out;
  mix_rows(static_cast<const float*>(floats.raw()), rows, floats.count() / rows, share,
           static_cast<float*>(out.mutable_raw()));
  return out;
}

// ---- labels

bool are_classes(DType type) { return is_integer(type); }

Result<void> check_labels(const MixLabels& op, const LeafSpec& labels) {
  STOKER_TRY(check_rows_spec(labels));
  if (!labels.type) return {};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (are_classes(*labels.type)) {
    if (op.num_classes < 1 || op.num_classes > kMost)
      return Error::invalid("integer labels require num_classes of at least 1, got ", op.num_classes);
    if (labels.shape && labels.shape->size() != 1)
      return Error::invalid("integer labels must have shape [rows], got ", shape_text(*labels.shape));
    return {};
  }
  if (is_float(*labels.type)) return {};
  return Error::invalid("labels must be integers or floats, got ", name_of(*labels.type));
}

Result<Array> one_hot(const Array& labels, int64_t classes, Context& context) {
  STOKER_TRY(Array out, context.scratch(std::vector<int64_t>{labels.dim(0), classes}, DType::kFloat32));
  std::ranges::fill(out.mutable_values<float>(), 0.0f);
  return visit_dtype(labels.type(), [&](auto zero) -> Result<Array> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      float* row = out.mutable_values<float>().data();
      for (T label : labels.values<T>()) {
        if (std::cmp_less(label, 0) || std::cmp_greater_equal(label, classes))
          return Error::invalid("label ", static_cast<int64_t>(label), " is out of range for ", classes, " classes");
        row[static_cast<int64_t>(label)] = 1;
        row += classes;
      }
    }
    return std::move(out);
  });
}

}  // namespace

Result<LeafSpec> MixupShare::spec(std::span<const LeafSpec>) const {
  STOKER_TRY(check_alpha(alpha));
  return LeafSpec{DType::kFloat32, std::vector<int64_t>{}};
}
Result<Array> MixupShare::apply(std::span<const Array>, Context& context) const {
  STOKER_TRY(check_alpha(alpha));
  Rng rng = draws(seed, context);
  return Array::of(static_cast<float>(draw_share(rng, alpha)));
}

Result<LeafSpec> Mixup::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_rows_spec(inputs[0]));
  STOKER_TRY(check_share_spec(inputs[1]));
  return LeafSpec{DType::kFloat32, inputs[0].shape};
}
Result<Array> Mixup::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_rows_spec(spec_of(inputs[0])));
  STOKER_TRY(const float share, share_of(inputs[1]));
  STOKER_TRY(const Array floats, as_floats(inputs[0], context));
  return mixed(floats, share, context);
}

Result<LeafSpec> CutmixBox::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_alpha(alpha));
  STOKER_TRY(check_images_spec(inputs[0]));
  return LeafSpec{DType::kInt64, std::vector<int64_t>{4}};
}
Result<Array> CutmixBox::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_alpha(alpha));
  STOKER_TRY(check_images_spec(spec_of(inputs[0])));
  const int64_t height = inputs[0].dim(1), width = inputs[0].dim(2);
  if (height == 0 || width == 0)
    return Error::invalid("images without pixels cannot be mixed, got shape ", shape_text(inputs[0].shape()));
  Rng rng = draws(seed, context);
  const double share = draw_share(rng, alpha);
  const CropBox box = draw_mix_box(rng, share, height, width);
  return Array::from(std::vector<int64_t>{box.top, box.left, box.height, box.width});
}

Result<LeafSpec> Cutmix::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_images_spec(inputs[0]));
  STOKER_TRY(check_box_spec(inputs[1]));
  return inputs[0];
}
Result<Array> Cutmix::apply(std::span<const Array> inputs, Context& context) const {
  const Array& from = inputs[0];
  STOKER_TRY(check_images_spec(spec_of(from)));
  STOKER_TRY(const CropBox box, box_of(inputs[1], from.dim(1), from.dim(2)));
  STOKER_TRY(Array out, context.result(from.shape(), from.type()));
  if (from.count() == 0) return out;
  std::memcpy(out.mutable_raw(), from.raw(), static_cast<size_t>(from.byte_size()));
  for (int64_t i = 0; i < from.dim(0); ++i) {
    const ImageView before = cropped(image_view(from, i == 0 ? from.dim(0) - 1 : i - 1), box);
    MutableImageView to = image_view(out, i);
    const auto pixel = to.channels * static_cast<int64_t>(size_of(to.type));
    to.data = to.row<std::byte>(box.top) + box.left * pixel;
    to.height = box.height;
    to.width = box.width;
    take_window(before, {0, 0, box.height, box.width}, to);
  }
  return out;
}

Result<LeafSpec> CutmixShare::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_images_spec(inputs[0]));
  STOKER_TRY(check_box_spec(inputs[1]));
  return LeafSpec{DType::kFloat32, std::vector<int64_t>{}};
}
Result<Array> CutmixShare::apply(std::span<const Array> inputs, Context&) const {
  STOKER_TRY(check_images_spec(spec_of(inputs[0])));
  const int64_t height = inputs[0].dim(1), width = inputs[0].dim(2);
  STOKER_TRY(const CropBox box, box_of(inputs[1], height, width));
  const double all = static_cast<double>(height) * static_cast<double>(width);
  const double cut = static_cast<double>(box.height) * static_cast<double>(box.width);
  return Array::of(all > 0 ? static_cast<float>(1 - cut / all) : 1.0f);
}

Result<LeafSpec> MixLabels::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_labels(*this, inputs[0]));
  STOKER_TRY(check_share_spec(inputs[1]));
  LeafSpec spec{DType::kFloat32, {}};
  if (!inputs[0].type || !inputs[0].shape) return spec;
  spec.shape = inputs[0].shape;
  if (are_classes(*inputs[0].type)) spec.shape->push_back(num_classes);
  return spec;
}
Result<Array> MixLabels::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_labels(*this, spec_of(inputs[0])));
  STOKER_TRY(const float share, share_of(inputs[1]));
  if (are_classes(inputs[0].type())) {
    STOKER_TRY(const Array labels, one_hot(inputs[0], num_classes, context));
    return mixed(labels, share, context);
  }
  STOKER_TRY(const Array labels, as_floats(inputs[0], context));
  return mixed(labels, share, context);
}

namespace image {

Mixed mixup(Value images, Value labels, MixParams params) {
  const Value share = call(MixupShare{params.alpha, params.seed}, {images});
  return {call(Mixup{}, {images, share}), call(MixLabels{params.num_classes}, {std::move(labels), share})};
}

Mixed cutmix(Value images, Value labels, MixParams params) {
  const Value box = call(CutmixBox{params.alpha, params.seed}, {images});
  const Value share = call(CutmixShare{}, {images, box});
  return {call(Cutmix{}, {images, box}), call(MixLabels{params.num_classes}, {std::move(labels), share})};
}

}  // namespace image
}  // namespace stoker
