#include "stoker/sources/range.h"

#include "stoker/sources/numbers.h"

namespace stoker {

Result<void> Range::check() const {
  if (step == 0) return Error::invalid("step is 0, expected a positive or negative number");
  return check_number_type(output_type);
}

Result<int64_t> Range::length(Context&) const {
  if (step > 0 ? stop <= start : stop >= start) return 0;
  // Unsigned: the difference between the smallest and the largest number exceeds 2^63.
  const auto from = static_cast<uint64_t>(start);
  const auto to = static_cast<uint64_t>(stop);
  const uint64_t span = step > 0 ? to - from : from - to;
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  return static_cast<int64_t>(std::min<uint64_t>((span - 1) / stride + 1, kEndless - 1));
}

Result<Element> Range::at(int64_t i, Context& context) const {
  STOKER_TRY(Run run, fetch({&i, 1}, context));
  return run.element(0);
}

Result<Run> Range::fetch(std::span<const int64_t> positions, Context&) const {
  return numbers_at(positions, start, step, output_type);
}

}  // namespace stoker
