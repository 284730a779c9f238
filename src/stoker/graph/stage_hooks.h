#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "stoker/graph/stage.h"

namespace stoker {

// The functions of a plain struct that make it a stage, and the optional ones. CONTRIBUTING.md explains both. A struct
// that has the name of an optional function with another signature, or without `const`, does not compile, and neither
// does one that has an optional function of another form. The message names the function.
namespace hooks {

struct NoState {};
template <typename T>
struct StateTypeOf {
  using type = NoState;
};
template <typename T>
  requires requires { typename T::State; }
struct StateTypeOf<T> {
  using type = typename T::State;
};
template <typename T>
using StateOf = typename StateTypeOf<T>::type;

// What the calls below may use as arguments.
#define STOKER_HOOK_ARGUMENTS                                                                               \
  const T &t, StateOf<T>&state, const StateOf<T>&const_state, Context &context, Emit &out, Element element, \
      const Element &const_element, Run run, const Origin &origin, const Pass &pass, int64_t number,        \
      std::span<const Spec> specs, std::span<const int64_t> lengths, std::span<const int64_t> positions

// STOKER_HOOK(name, type of the result, call): defines
//   has_NAME<T>     T has the function
//   names_NAME<T>   T has a member with this name. A class with two bases that both have the name is ambiguous, which
//                   detects the name without its signature.
#define STOKER_HOOK(hook, returns, call)                       \
  struct hook##Name {                                          \
    int hook;                                                  \
  };                                                           \
  template <typename T>                                        \
  struct hook##Probe : T, hook##Name {};                       \
  template <typename T>                                        \
  concept names_##hook = !requires { &hook##Probe<T>::hook; }; \
  template <typename T>                                        \
  concept has_##hook = requires(STOKER_HOOK_ARGUMENTS) {       \
    { call } -> std::same_as<returns>;                         \
  };
#define STOKER_CHECK_HOOK(T, hook, declaration)                  \
  static_assert(hooks::has_##hook<T> || !hooks::names_##hook<T>, \
                "the optional function `" #hook "` of a stage must be public and declared as: " declaration)

// Every form.
STOKER_HOOK(check, Result<void>, t.check())
STOKER_HOOK(spec, Result<Spec>, t.spec(specs))
STOKER_HOOK(graphs, std::vector<Graph>, t.graphs())
STOKER_HOOK(captured, std::vector<Graph>, t.captured())
STOKER_HOOK(summary, std::string, t.summary())
STOKER_HOOK(calls_user, bool, t.calls_user())
STOKER_HOOK(pass_use, PassUse, t.pass_use())
STOKER_HOOK(can_save, Result<void>, t.can_save())
STOKER_HOOK(cardinality, int64_t, t.cardinality(lengths))
template <typename T>
concept has_cardinality_of_specs = requires(STOKER_HOOK_ARGUMENTS) {
  { t.cardinality(lengths, specs) } -> std::same_as<int64_t>;
};

// Sources.
STOKER_HOOK(fingerprint, Result<std::string>, t.fingerprint())
STOKER_HOOK(describe_record, RecordName, t.describe_record(origin))
STOKER_HOOK(load, Result<Element>, t.load(std::move(element), context))
// Lists.
STOKER_HOOK(fetch, Result<Run>, t.fetch(positions, context))
STOKER_HOOK(order, std::optional<ShuffleParams>, t.order())
// Streams and sequences.
STOKER_HOOK(start, StateOf<T>, t.start(pass))
STOKER_HOOK(check_state, Result<void>, t.check_state(const_state))
// Streams.
STOKER_HOOK(next_rows, Column, t.next_rows(state, number, context))
STOKER_HOOK(is_repeatable, bool, t.is_repeatable())
STOKER_HOOK(by_position, bool, t.by_position())
STOKER_HOOK(listed, std::optional<T>, t.listed())
// Maps and filters.
STOKER_HOOK(hints, Hints, t.hints())
STOKER_HOOK(waits, bool, t.waits())
// Maps.
template <typename T>
using Pair = std::pair<T, T>;
STOKER_HOOK(split, std::optional<Pair<T>>, t.split())
STOKER_HOOK(by_item, bool, t.by_item())
// Sequences.
STOKER_HOOK(finish, Result<Flow>, t.finish(state, out, context))
STOKER_HOOK(input, int, t.input(const_state))
STOKER_HOOK(max_rows, int64_t, t.max_rows(const_state))
STOKER_HOOK(batch_rows, int64_t, t.batch_rows())
STOKER_HOOK(open_graph, Result<Graph>, t.open_graph(const_element))
STOKER_HOOK(at_rest, bool, t.at_rest(const_state))

template <typename T>
concept saves_state = requires(StateOf<T> state, Fields fields) { state.describe(fields); };

// The functions that determine the form.
STOKER_HOOK(length, Result<int64_t>, t.length(context))
STOKER_HOOK(at, Result<Element>, t.at(number, context))
STOKER_HOOK(next, Result<std::optional<Element>>, t.next(state, context))
STOKER_HOOK(apply, Result<Element>, t.apply(std::move(element), context))
STOKER_HOOK(keep, Result<bool>, t.keep(const_element, context))
STOKER_HOOK(step, Result<Flow>, t.step(state, std::move(element), out, context))
template <typename T>
concept has_apply_of_run = requires(STOKER_HOOK_ARGUMENTS) {
  { t.apply(run, context) } -> std::same_as<Result<void>>;
};
template <typename T>
concept has_keep_of_run = requires(STOKER_HOOK_ARGUMENTS) {
  { t.keep(run, context) } -> std::same_as<Result<std::vector<uint8_t>>>;
};
template <typename T>
concept has_step_of_run = requires(STOKER_HOOK_ARGUMENTS) {
  { t.step(state, std::move(run), out, context) } -> std::same_as<Result<Flow>>;
};

}  // namespace hooks

template <typename T>
concept IsList = hooks::has_length<T> && hooks::has_at<T>;
template <typename T>
concept IsStream = hooks::has_next<T>;
template <typename T>
concept IsMap = hooks::has_apply<T> || hooks::has_apply_of_run<T>;
template <typename T>
concept IsFilter = hooks::has_keep<T> || hooks::has_keep_of_run<T>;
template <typename T>
concept IsSelection = requires(const T& t, int64_t number) {
  { t.length(number) } -> std::same_as<int64_t>;
  { t.at(number) } -> std::same_as<int64_t>;
};
template <typename T>
concept IsSequence = hooks::has_step<T> || hooks::has_step_of_run<T>;
template <typename T>
concept IsEngineStage = requires(const T& t) {
  { t.engine() } -> std::convertible_to<EngineParams>;
};
// A list or a stream, depending on its parameters.
template <typename T>
concept IsListOrStream = IsList<T> && IsStream<T> && hooks::has_by_position<T>;

template <typename T>
constexpr int forms_of = int{IsList<T>} + int{IsStream<T>} + int{IsMap<T>} + int{IsFilter<T>} + int{IsSelection<T>} +
                         int{IsSequence<T>} + int{IsEngineStage<T>} - int{IsListOrStream<T>};

// Whether a member of this name is a field, such as `step` of a selection, and not a function.
#define STOKER_IS_FIELD(T, name) requires { requires std::is_member_object_pointer_v<decltype(&T::name)>; }

// A struct with exactly one form.
template <typename T>
concept StageStruct = forms_of<T> == 1;

// Rejects an optional function of another form, which would never be called.
#define STOKER_HOOK_OF(T, hook, is_form, forms)   \
  static_assert(is_form || !hooks::has_##hook<T>, \
                "`" #hook "` is a function of " forms ", and this stage has another form")
#define STOKER_FORM_FUNCTION(T, function, is_form, forms)                               \
  static_assert(is_form || !hooks::names_##function<T> || STOKER_IS_FIELD(T, function), \
                "`" #function "` is a function of " forms ", and this stage has another form")
#define STOKER_CONSTANT_OF(T, constant, is_form, forms) \
  static_assert(                                        \
      is_form || !requires { T::constant; },            \
      "`" #constant "` is a constant of " forms ", and this stage has another form")
template <typename T>
consteval void reject_hooks_of_other_forms() {
  constexpr bool is_source = IsList<T> || IsStream<T>, has_state = IsStream<T> || IsSequence<T>;
  STOKER_FORM_FUNCTION(T, apply, IsMap<T>, "maps");
  STOKER_FORM_FUNCTION(T, keep, IsFilter<T>, "filters");
  STOKER_FORM_FUNCTION(T, next, IsStream<T>, "streams");
  STOKER_FORM_FUNCTION(T, step, IsSequence<T>, "sequences");
  STOKER_CONSTANT_OF(T, kWaits, is_source || IsMap<T> || IsFilter<T>, "lists, streams, maps and filters");
  STOKER_CONSTANT_OF(T, kContinuesAfterError, IsStream<T>, "streams");
  STOKER_CONSTANT_OF(T, kUnbatches, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, fingerprint, is_source, "lists and streams");
  STOKER_HOOK_OF(T, describe_record, is_source, "lists and streams");
  STOKER_HOOK_OF(T, load, is_source, "lists and streams");
  STOKER_HOOK_OF(T, fetch, IsList<T>, "lists");
  STOKER_HOOK_OF(T, order, IsList<T>, "lists");
  STOKER_HOOK_OF(T, start, has_state, "streams and sequences");
  STOKER_HOOK_OF(T, check_state, has_state, "streams and sequences");
  STOKER_HOOK_OF(T, next_rows, IsStream<T>, "streams");
  STOKER_HOOK_OF(T, is_repeatable, IsStream<T>, "streams");
  STOKER_HOOK_OF(T, by_position, IsListOrStream<T>, "structs that are both a list and a stream");
  STOKER_HOOK_OF(T, listed, IsListOrStream<T>, "structs that are both a list and a stream");
  STOKER_HOOK_OF(T, hints, IsMap<T> || IsFilter<T>, "maps and filters");
  STOKER_HOOK_OF(T, waits, IsMap<T> || IsFilter<T>, "maps and filters");
  STOKER_HOOK_OF(T, split, IsMap<T>, "maps");
  STOKER_HOOK_OF(T, by_item, IsMap<T>, "maps");
  STOKER_HOOK_OF(T, finish, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, input, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, max_rows, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, batch_rows, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, open_graph, IsSequence<T>, "sequences");
  STOKER_HOOK_OF(T, at_rest, IsSequence<T>, "sequences");
}
#undef STOKER_HOOK_OF
#undef STOKER_FORM_FUNCTION
#undef STOKER_CONSTANT_OF
#undef STOKER_IS_FIELD

}  // namespace stoker
