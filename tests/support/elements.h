#pragma once

#include <vector>

#include "stoker/graph/context.h"

namespace stoker {

// The results of an operation for elements 0, 1, … of a dataset.
template <typename Op>
Arrays for_elements(const Op& op, const Arrays& inputs, int32_t n) {
  const Origins origins(0, 0, 0, n);
  Context context(1, 2, nullptr);
  context.set_origins(&origins);
  Arrays made;
  for (int32_t i = 0; i < n; ++i) {
    context.set_row(i);
    made.push_back(op.apply(inputs, context).value());
  }
  return made;
}

}  // namespace stoker
