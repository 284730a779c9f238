#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Puts each element through a function.
struct Map {
  static constexpr std::string_view kName = "map";
  static constexpr std::string_view kDoc = "Put each element through a function, in parallel, in order.";

  Function map_func;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  void describe(Fields& f) {
    f.required("map_func", map_func, "from an element to an element");
    f("num_parallel_calls", num_parallel_calls, "calls at once at most; null or -1: as many as help");
    f("deterministic", deterministic, "false gives order up; null: keep it");
  }

  Result<void> check() const;
  std::string words() const { return map_func.words(); }
  bool calls_user() const { return map_func.calls_user(); }
  PassUse pass_use() const { return map_func.pass_use(); }
  bool waits() const { return map_func.waits(); }
  std::optional<std::pair<Map, Map>> cut() const;
  bool by_item() const { return map_func.program() && map_func.program()->by_item(); }
  Hints hints() const { return {num_parallel_calls, deterministic.value_or(true), map_func.is_sequence()}; }
  Result<Spec> spec(std::span<const Spec> inputs) const { return map_func.spec(inputs[0]); }
  Result<void> apply(Run& run, Context& context) const { return map_func.apply(run, context); }
};

}  // namespace stoker
