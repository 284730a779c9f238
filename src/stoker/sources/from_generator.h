#pragma once

#include <functional>

#include "stoker/graph/function.h"

namespace stoker {

// Elements from a C++ callable. `generator` is called once for each pass and
// gives a function that returns the next element, or nothing at the end.
struct FromGenerator {
  static constexpr std::string_view kName = "from_generator";
  static constexpr std::string_view kDoc = "Elements from a function of yours, called again for each pass.";
  static constexpr bool kWaits = true;
  using Next = std::function<Result<std::optional<Element>>()>;

  std::function<Next()> generator;
  Spec output_signature;   // unknown: whatever comes
  bool repeatable = true;  // a pass gives the same again; else there is no saving its place

  struct State {
    std::shared_ptr<Next> next;  // made when first asked
  };

  void describe(Fields& f) { f("repeatable", repeatable, "whether a pass gives the same again"); }

  Result<void> check() const {
    if (!generator) return Error::invalid("a generator is a C++ function; it cannot stand in a graph file");
    return {};
  }
  Result<void> can_save() const {
    return Error::precondition("from_generator: generator is a C++ function, which cannot be saved");
  }
  std::string words() const { return "a C++ generator"; }
  bool calls_user() const { return true; }
  bool is_repeatable() const { return repeatable; }
  Result<Spec> spec(std::span<const Spec>) const { return output_signature; }
  Result<std::optional<Element>> next(State& state, Context&) const;
};

}  // namespace stoker
