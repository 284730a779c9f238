#include "stoker/ops/turn.h"

#include <utility>
#include <vector>

#include "stoker/image/turn.h"
#include "stoker/ops/call.h"
#include "stoker/ops/image_dims.h"

namespace stoker {
namespace {

Result<void> check_numbers(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected an image of numbers, got ", name_of(type));
}

std::vector<int64_t> sides_swapped(Dims dims) {
  std::vector<int64_t> result(dims.begin(), dims.end());
  std::swap(result[dims.size() - 3], result[dims.size() - 2]);
  return result;
}

Result<LeafSpec> turned_spec(const LeafSpec& input, bool swap) {
  if (input.type) STOKER_TRY(check_numbers(*input.type));
  LeafSpec spec = input;
  if (!spec.shape) return spec;
  STOKER_TRY(check_image(*spec.shape));
  if (swap) spec.shape = sides_swapped(*spec.shape);
  return spec;
}

template <typename Turn>
Result<Array> turned(const Array& from, bool swap, Context& context, Turn turn) {
  STOKER_TRY(check_numbers(from.type()));
  STOKER_TRY(check_image(from.shape()));
  const std::vector<int64_t> same(from.shape().begin(), from.shape().end());
  STOKER_TRY(Array out, context.result(swap ? sides_swapped(from.shape()) : same, from.type()));
  for (int64_t i = 0; i < images_in(from.shape()); ++i) turn(image_view(from, i), image_view(out, i));
  return out;
}

int quarters(int64_t k) { return static_cast<int>((k % 4 + 4) % 4); }

}  // namespace

Result<LeafSpec> Rot90::spec(std::span<const LeafSpec> inputs) const { return turned_spec(inputs[0], k % 2 != 0); }
Result<Array> Rot90::apply(std::span<const Array> inputs, Context& context) const {
  if (quarters(k) == 0) {
    STOKER_TRY(check_numbers(inputs[0].type()));
    STOKER_TRY(check_image(inputs[0].shape()));
    return inputs[0];
  }
  return turned(inputs[0], k % 2 != 0, context,
                [&](const ImageView& from, const MutableImageView& to) { rotate_image(from, quarters(k), to); });
}

Result<LeafSpec> TransposeImage::spec(std::span<const LeafSpec> inputs) const { return turned_spec(inputs[0], true); }
Result<Array> TransposeImage::apply(std::span<const Array> inputs, Context& context) const {
  return turned(inputs[0], true, context, transpose_pixels);
}

namespace image {

Value rot90(Value image, Rot90 params) { return call(params, {std::move(image)}); }
Value transpose_image(Value image) { return call(TransposeImage{}, {std::move(image)}); }

}  // namespace image
}  // namespace stoker
