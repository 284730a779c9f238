#include "stoker/transforms/map.h"

namespace stoker {

Result<void> Map::check() const {
  if (num_parallel_calls && *num_parallel_calls <= 0 && *num_parallel_calls != kAutotune)
    return Error::invalid("num_parallel_calls must be at least 1, or -1 for automatic, got ", *num_parallel_calls);
  return map_func.check();
}

std::optional<std::pair<Map, Map>> Map::split() const {
  if (!map_func.program()) return std::nullopt;
  std::optional<Program::Parts> parts = map_func.program()->cut();
  if (!parts) return std::nullopt;
  return std::pair{Map{Function(std::move(parts->reads)), num_parallel_calls, deterministic},
                   Map{Function(std::move(parts->rest)), num_parallel_calls, deterministic}};
}

}  // namespace stoker
