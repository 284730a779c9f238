#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Keeps the elements for which a function says true.
struct Filter {
  static constexpr std::string_view kName = "filter";
  static constexpr std::string_view kDoc = "Keep the elements for which a function says true.";

  Function predicate;

  void describe(Fields& f) { f.required("predicate", predicate, "from an element to a bool"); }

  Result<void> check() const { return predicate.check(); }
  std::string words() const { return predicate.words(); }
  bool calls_user() const { return predicate.calls_user(); }
  PassUse pass_use() const { return predicate.pass_use(); }
  bool waits() const { return predicate.waits(); }
  Hints hints() const { return {.parallel_calls = predicate.most_calls()}; }
  Result<Spec> spec(std::span<const Spec> inputs) const;
  Result<std::vector<uint8_t>> keep(Run& run, Context& context) const;
};

}  // namespace stoker
