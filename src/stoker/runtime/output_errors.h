#pragma once

#include <cstdint>
#include <vector>

#include "stoker/core/element.h"

namespace stoker {

// Whether an error among the rows to skip after a restore must be returned: an extra error, or an error that ends the
// input, unless the iterator that was saved had returned such an error (`may_end`).
inline bool is_unexpected(const Error& error, bool may_end) {
  return error.is_extra() || (error.ends_input() && !may_end);
}

// The errors among the rows that a line or a window has returned, as far as checkpoints depend on them. Extra errors
// are not elements, so the number of elements to skip does not count them.
class OutputErrors {
 public:
  // Notes the errors of a run whose first row has this number. Runs must be noted in order.
  void note(const Run& run, int64_t first_row);
  // The number of extra errors among the rows [from, to).
  int64_t extras_in(int64_t from, int64_t to) const;
  // Whether an error that ends the input is among the rows before `cursor`.
  bool has_ended_before(int64_t cursor) const { return ended_at_ >= 0 && ended_at_ < cursor; }
  // Forgets extra errors among the rows before `cursor`.
  void prune(int64_t cursor);

 private:
  std::vector<int64_t> extras_;  // their rows, in order
  int64_t ended_at_ = -1;        // the row that is an error that ends the input
};

}  // namespace stoker
