#include "stoker/runtime/output_errors.h"

#include <algorithm>

namespace stoker {

void OutputErrors::note(const Run& run, int64_t first_row) {
  for (const Failure& failure : run.failed) {
    if (failure.error.is_extra())
      extras_.push_back(first_row + failure.row);
    else if (failure.error.ends_input() && ended_at_ < 0)
      ended_at_ = first_row + failure.row;
  }
}

int64_t OutputErrors::extras_in(int64_t from, int64_t to) const {
  return std::ranges::lower_bound(extras_, to) - std::ranges::lower_bound(extras_, from);
}

void OutputErrors::prune(int64_t cursor) { extras_.erase(extras_.begin(), std::ranges::lower_bound(extras_, cursor)); }

}  // namespace stoker
