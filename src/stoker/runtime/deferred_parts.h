#pragma once

#include <functional>
#include <vector>

#include "stoker/graph/json.h"

namespace stoker {

// The parts of a checkpoint that stages write, and the elements in it. While the engine's lock is held, the lines
// collect them; fill() writes them without the lock, because stages are user code and elements can be large.
//
// Not thread-safe.
class DeferredParts {
 public:
  using Write = std::function<Result<Json>()>;

  // Returns a placeholder for the part. `write` owns what it uses.
  Json add(Write write);
  // Writes the parts, in the order in which they were added, and returns the checkpoint with them in place of the
  // placeholders. Returns the first error.
  Result<Json> fill(Json checkpoint) const;

 private:
  std::vector<Write> parts_;
};

}  // namespace stoker
