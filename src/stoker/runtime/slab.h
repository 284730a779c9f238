#pragma once

#include <optional>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/element.h"
#include "stoker/core/mutex.h"
#include "stoker/graph/context.h"

namespace stoker {

// The memory of the rows of one batch, one allocation for each component. It is allocated when the
// first row determines shape and type. Several threads write rows at the same time, each thread its
// own rows.
class Slab {
 public:
  explicit Slab(int64_t rows) : rows_(rows) {}

  // Returns rows [first, first + n) of a component, as one block of shape [n] + dims. Returns
  // nothing if the shape or type differs from the slab's, for byte strings, beyond the last row, or
  // if the memory budget has no space. Thread-safe.
  std::optional<Array> block(size_t leaf, int64_t first, int64_t n, Dims dims, DType type);

 private:
  const int64_t rows_;

  Mutex mutex_;
  std::vector<std::optional<Array>> leaves_ STOKER_GUARDED_BY(mutex_);
};

// Some rows of a slab, as the memory for the results of one run.
class SlabRows final : public RowTarget {
 public:
  SlabRows(Slab& slab, int64_t first, int64_t rows) : slab_(slab), first_(first), rows_(rows) {}
  std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) override;
  std::optional<Array> block_of(size_t leaf, Dims dims, DType type) override;

  // Copies those results into the slab that the last stage did not write there itself.
  void copy_into_slab(Run& run);

 private:
  void copy_into_slab(Column& column, size_t leaf);

  Slab& slab_;
  const int64_t first_;
  const int64_t rows_;
};

}  // namespace stoker
