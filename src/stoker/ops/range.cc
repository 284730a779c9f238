#include "stoker/ops/range.h"

#include <string>

namespace stoker {

Result<DrawRange> range_of(const std::vector<double>& values, std::string_view name) {
  constexpr double kMost = 1e9;
  if (values.size() == 2 && values[0] > 0 && values[0] <= values[1] && values[1] <= kMost)
    return DrawRange{values[0], values[1]};
  std::string found;
  for (double value : values) found += (found.empty() ? "" : ", ") + std::to_string(value);
  return Error::invalid(name, " must be two increasing numbers above 0, got [", found, "]");
}

}  // namespace stoker
