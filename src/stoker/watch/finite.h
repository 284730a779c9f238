#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/element.h"

namespace stoker {

// Finds NaN and infinite values in batches.

// Returns how many of `count` contiguous values are NaN or infinite; 0 for types
// other than floating point.
int64_t count_non_finite(DType type, const void* values, int64_t count);

// The NaN and infinite values of one component of a batch.
struct NonFinite {
  std::string component;  // "image", "0"; "" if the batch has only one
  int64_t values = 0;
  int64_t row = 0;   // of the first, counted from 0
  std::string path;  // of the file that the component comes from, if known
};

// Returns nullopt, or an empty list, if all values are finite.
std::optional<NonFinite> non_finite_in(const Array& array, std::string component);
std::vector<NonFinite> non_finite_in(const Element& element);

}  // namespace stoker
