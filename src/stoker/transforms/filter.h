#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Keeps the elements for which a function returns true. If the function fails, the element fails.
struct Filter {
  static constexpr std::string_view kName = "filter";
  static constexpr std::string_view kDoc = "Keep the elements for which a function returns true.";

  Function predicate;

  void describe(Fields& f) { f.required("predicate", predicate, "function from an element to one bool"); }

  Result<void> check() const { return predicate.check(); }
  std::string summary() const { return predicate.describe(); }
  bool calls_user() const { return predicate.calls_user(); }
  PassUse pass_use() const { return predicate.pass_use(); }
  bool waits() const { return predicate.waits(); }
  Hints hints() const { return {.parallel_calls = predicate.most_calls()}; }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  Result<std::vector<uint8_t>> keep(Run& run, Context& context) const;
};

}  // namespace stoker
