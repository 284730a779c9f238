#include "stoker/transforms/map.h"

namespace stoker {

Result<void> Map::check() const {
  if (num_parallel_calls && *num_parallel_calls <= 0 && *num_parallel_calls != kAutotune)
    return Error::invalid("num_parallel_calls must be at least 1, or -1, found ", *num_parallel_calls);
  return map_func.check();
}

}  // namespace stoker
