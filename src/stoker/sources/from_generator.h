#pragma once

#include <functional>

#include "stoker/graph/function.h"

namespace stoker {

// The next element of a pass, or nothing at its end.
using NextElement = std::function<Result<std::optional<Element>>()>;
template <>
const Codec& plain_codec<std::function<NextElement()>>();
template <>
const Codec& plain_codec<Spec>();

// Elements from a callable. `generator` is called once for each pass and
// gives a function that returns the next element, or nothing at the end. Behind
// an error that it returns it is called again; an exception ends the pass.
struct FromGenerator {
  static constexpr std::string_view kName = "from_generator";
  static constexpr std::string_view kDoc = "Elements from a function of yours, called again for each pass.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;
  using Next = NextElement;

  std::function<Next()> generator;
  Spec output_signature;   // unknown: whatever comes
  bool repeatable = true;  // a pass gives the same again; else there is no saving its place

  struct State {
    std::shared_ptr<Next> next;  // made when first asked
    bool ended = false;
  };

  void describe(Fields& f) {
    f.required("generator", generator, "a function that begins a pass and gives one that gives its elements");
    f("output_signature", output_signature, "structure, types and shapes of the elements; null: whatever comes");
    f("repeatable", repeatable, "whether a pass gives the same again");
  }

  Result<void> check() const {
    if (!generator) return Error::invalid("a generator is wanted");
    return {};
  }
  Result<void> can_save() const {
    return Error::precondition("from_generator: generator is a function, which cannot be saved");
  }
  std::string words() const { return "a generator"; }
  bool calls_user() const { return true; }
  bool is_repeatable() const { return repeatable; }
  Result<Spec> spec(std::span<const Spec>) const { return output_signature; }
  Result<std::optional<Element>> next(State& state, Context&) const;
};

}  // namespace stoker
