#include "stoker/ops/one_string.h"

namespace stoker {

Result<void> check_string(const LeafSpec& input, std::string_view what) {
  if (input.type && *input.type != DType::kBytes)
    return Error::invalid(what, " must be a string, got ", name_of(*input.type));
  if (input.shape && !input.shape->empty())
    return Error::invalid(what, " must be one string, got strings of shape ", shape_text(*input.shape));
  return {};
}

Result<Bytes> string_of(const Array& input, std::string_view what) {
  if (input.type() == DType::kBytes && input.rank() == 0) return input.bytes();
  return check_string(Spec::of(input).leaves[0], what).error();
}

}  // namespace stoker
