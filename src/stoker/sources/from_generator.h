#pragma once

#include <functional>

#include "stoker/graph/function.h"

namespace stoker {

// Returns the next element of a pass, or nothing at its end.
using NextElement = std::function<Result<std::optional<Element>>()>;
// A generator with what a checkpoint compares of it: see Function::Callable::identity().
struct IdentifiedGenerator {
  std::function<NextElement()> begin;
  std::string identity;
  NextElement operator()() const { return begin(); }
};
template <>
const Codec& plain_codec<std::function<NextElement()>>();
template <>
const Codec& plain_codec<Spec>();

// Yields elements from a callable. `generator` is called once for each pass and returns a function that returns the
// next element, or nothing at the end. After an error that this function returns, it is called again. An exception ends
// the pass.
struct FromGenerator {
  static constexpr std::string_view kName = "from_generator";
  static constexpr std::string_view kDoc =
      "Yield the elements of a user function, which is called again for each pass.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;
  using Next = NextElement;

  std::function<Next()> generator;
  Spec output_signature;   // unknown: elements are not checked
  bool repeatable = true;  // each pass yields the same elements; if not, the iterator cannot be saved

  struct State {
    std::shared_ptr<Next> next;  // created by the first call of next()
    bool ended = false;
  };

  void describe(Fields& f) {
    f.required("generator", generator,
               "function that starts a pass and returns a function that returns the next element");
    f("output_signature", output_signature, "structure, types and shapes of the elements; null: not checked");
    f("repeatable", repeatable, "whether each pass yields the same elements; if false, the iterator cannot be saved");
  }

  Result<void> check() const {
    if (!generator) return Error::invalid("generator is missing, expected a function");
    return {};
  }
  Result<void> can_save() const {
    return Error::precondition("from_generator: generator is a function and cannot be saved");
  }
  std::string summary() const { return "a generator"; }
  bool calls_user() const { return true; }
  bool is_repeatable() const { return repeatable; }
  Result<Spec> spec(std::span<const Spec>) const { return output_signature; }
  Result<std::optional<Element>> next(State& state, Context&) const;
};

}  // namespace stoker
