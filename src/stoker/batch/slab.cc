#include "stoker/batch/slab.h"

#include <algorithm>

namespace stoker {

std::optional<Array> Slab::block(size_t leaf, int64_t first, int64_t n, Dims dims, DType type) {
  if (type == DType::kBytes || first + n > rows_) return std::nullopt;
  const MutexLock lock(mutex_);
  if (leaves_.size() <= leaf) leaves_.resize(leaf + 1);
  std::optional<Array>& whole = leaves_[leaf];
  if (!whole) {
    std::vector<int64_t> all{rows_};
    all.insert(all.end(), dims.begin(), dims.end());
    Result<Array> made = Array::make(all, type);
    if (!made) return std::nullopt;
    whole = *std::move(made);
  }
  if (whole->type() != type || !std::ranges::equal(whole->dims().subspan(1), dims)) return std::nullopt;
  return whole->rows(first, n);
}

}  // namespace stoker
