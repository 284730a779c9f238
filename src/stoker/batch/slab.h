#pragma once

#include <optional>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/mutex.h"

namespace stoker {

// The rows of one batch, one allocation a component, made when the first row
// says what shape and type it has. Rows are written by many threads, each its
// own.
class Slab {
 public:
  explicit Slab(int64_t rows) : rows_(rows) {}

  // Rows [first, first + n) of a component, as one block of shape [n] + dims.
  // Nothing when shape or type is not the slab's, or there is no room for it.
  std::optional<Array> block(size_t leaf, int64_t first, int64_t n, Dims dims, DType type);

 private:
  const int64_t rows_;

  Mutex mutex_;
  std::vector<std::optional<Array>> leaves_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
