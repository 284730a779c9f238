#pragma once

#include <cstdint>
#include <optional>
#include <variant>

namespace stoker {

// The stages that the runtime implements itself, because each has one form over positions and one over elements. A
// struct below holds the parameters that the runtime needs, in the runtime's terms: the struct of the stage in
// transforms/ converts the user's. The runtime lowers each of them in one function (runtime/lowering_engine.cc).

struct RepeatParams {
  int64_t passes = -1;  // over the input; negative: no end
};

struct CacheParams {};

struct PrefetchParams {
  int64_t at_least = 0;  // elements to keep ready
};

// Also the order of a list that shuffles itself (`list_files`).
struct ShuffleParams {
  std::optional<int64_t> buffer;  // elements to draw from; none: all
  std::optional<int64_t> seed;    // none: the seed that the node drew
  bool each_pass = true;          // a different order in each pass
};

struct ZipParams {};

struct ConcatenateParams {};

struct EnumerateParams {
  int64_t start = 0;  // number of the first element
};

struct ErrorPolicyParams {
  bool skip = false;     // else `next()` returns the errors
  double at_most = 1.0;  // fraction of the elements that may be skipped
};

using EngineParams = std::variant<RepeatParams, CacheParams, PrefetchParams, ShuffleParams, ZipParams,
                                  ConcatenateParams, EnumerateParams, ErrorPolicyParams>;

}  // namespace stoker
