#include "stoker/ops/image_steps.h"

#include "stoker/graph/promotion.h"

namespace stoker {

Result<Array> constant_of(const ChainLink& link, size_t i, DType type) {
  const auto& [value, plain] = link.constants[i];
  if (!plain) return value;
  return plain_as(value, plain_type_next_to(value, type), link.op->type().plain);
}

}  // namespace stoker
