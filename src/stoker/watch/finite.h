#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/element.h"

namespace stoker {

// NaN and infinities among `count` values of one type that lie side by side.
int64_t count_non_finite(DType type, const void* values, int64_t count);

// What one component of a batch holds of them.
struct NonFinite {
  std::string component;  // "image", "0"; "" where there is but one
  int64_t values = 0;
  int64_t row = 0;   // of the first, counted from 0
  std::string path;  // of the file behind it, where that is known
};

// Nothing where all values are finite or are no floats.
std::optional<NonFinite> non_finite_in(const Array& array, std::string component);
std::vector<NonFinite> non_finite_in(const Element& element);

}  // namespace stoker
