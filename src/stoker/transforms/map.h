#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Applies a function to each element. Results keep the order of the input.
struct Map {
  static constexpr std::string_view kName = "map";
  static constexpr std::string_view kDoc = "Apply a function to each element, in parallel and in order.";

  Function map_func;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  void describe(Fields& f) {
    f.required("map_func", map_func, "function from an element to an element");
    f("num_parallel_calls", num_parallel_calls, "maximum number of concurrent calls; null or -1: chosen automatically");
    f("deterministic", deterministic, "accepted for compatibility with tf.data; the order is kept in any case");
  }

  Result<void> check() const;
  std::string summary() const { return map_func.describe(); }
  bool calls_user() const { return map_func.calls_user(); }
  PassUse pass_use() const { return map_func.pass_use(); }
  bool waits() const { return map_func.waits(); }
  std::optional<std::pair<Map, Map>> split() const;
  bool by_item() const { return map_func.program() && map_func.program()->by_item(); }
  Hints hints() const { return {num_parallel_calls, map_func.is_sequence()}; }
  Result<Spec> spec(std::span<const Spec> inputs) const { return map_func.spec(inputs[0]); }
  Result<void> apply(Run& run, Context& context) const { return map_func.apply(run, context); }
};

}  // namespace stoker
