#include "stoker/sources/counter.h"

#include "stoker/sources/numbers.h"

namespace stoker {

Result<void> Counter::check() const { return check_number_type(dtype); }

Result<Element> Counter::at(int64_t i, Context& context) const {
  STOKER_TRY(Run run, fetch({&i, 1}, context));
  return run.element(0);
}

Result<Run> Counter::fetch(std::span<const int64_t> positions, Context&) const {
  return numbers_at(positions, start, step, dtype);
}

}  // namespace stoker
