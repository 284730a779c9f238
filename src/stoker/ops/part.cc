#include "stoker/ops/part.h"

namespace stoker {
namespace {

Result<void> check_type(DType type) {
  if (type != DType::kBytes) return {};
  return Error::invalid("expected an image of numbers, got ", name_of(type));
}

Result<void> check_shape(Dims dims, const std::vector<int64_t>& size) {
  bool fits = size.size() == dims.size();
  for (size_t i = 0; fits && i < size.size(); ++i) fits = size[i] >= 0 && (dims[i] < 0 || size[i] <= dims[i]);
  if (fits) return {};
  return Error::invalid("a crop of shape ", shape_text(size), " does not fit an array of shape ", shape_text(dims));
}

}  // namespace

Result<LeafSpec> part_spec(const LeafSpec& input, const std::vector<int64_t>& size) {
  if (input.type) STOKER_TRY(check_type(*input.type));
  if (input.shape) STOKER_TRY(check_shape(*input.shape, size));
  return LeafSpec{input.type, size};
}

Result<void> check_part(const Array& from, const std::vector<int64_t>& size) {
  STOKER_TRY(check_type(from.type()));
  return check_shape(from.shape(), size);
}

}  // namespace stoker
