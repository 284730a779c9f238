#pragma once

#include <utility>

#include "stoker/graph/function.h"
#include "stoker/graph/graph.h"
#include "stoker/graph/op_of.h"
#include "stoker/graph/stage.h"
#include "stoker/graph/stage_hooks.h"

namespace stoker {

// What the classes of stage_of.h share.

// Calls `body` for each row that has not failed, and replaces the columns by the elements that it returns. An error is
// the error of its row.
template <typename Body>
void replace_rows(Run& run, Context& context, Body&& body) {
  ResultRows made(run.size, context.like());
  traits::for_each_row(run, context, [&](int32_t row) -> Result<void> {
    Result<Element> element = body(run.argument(row));
    if (!element) return std::move(element).error();
    return made.set(row, std::move(element.value()));
  });
  made.put_into(run);
}

template <typename T>
Result<std::shared_ptr<const Stage>> read_stage(const Json& json, ReadContext& context);

// The part that depends only on the struct, not on its form.
template <typename T>
StageType describe_type(Form form) {
  StageType type;
  type.name = T::kName;
  type.doc = T::kDoc;
  type.form = form;
  if constexpr (requires { T::kWaits; }) type.waits = T::kWaits;
  if constexpr (requires { T::kContinuesAfterError; }) type.continues_after_error = T::kContinuesAfterError;
  if constexpr (requires { T::kUnbatches; }) type.unbatches = T::kUnbatches;
  type.returns_rows = hooks::has_next_rows<T>;
  type.opens_datasets = hooks::has_open_graph<T>;
  // A stream that provides a list on demand returns whole records; only the list identifies them first.
  type.loads = hooks::has_load<T> && !(form == Form::kStream && hooks::has_listed<T>);
  T defaults{};
  Fields fields;
  defaults.describe(fields);
  type.params = documented(fields);
  type.read = &read_stage<T>;
  return type;
}

// What all forms share.
template <typename T, typename Interface>
class StageBase : public Interface {
  STOKER_CHECK_HOOK(T, check, "Result<void> check() const");
  STOKER_CHECK_HOOK(T, spec, "Result<Spec> spec(std::span<const Spec> inputs) const");
  STOKER_CHECK_HOOK(T, graphs, "std::vector<Graph> graphs() const");
  STOKER_CHECK_HOOK(T, captured, "std::vector<Graph> captured() const");
  STOKER_CHECK_HOOK(T, summary, "std::string summary() const");
  STOKER_CHECK_HOOK(T, calls_user, "bool calls_user() const");
  STOKER_CHECK_HOOK(T, pass_use, "PassUse pass_use() const");
  STOKER_CHECK_HOOK(T, can_save, "Result<void> can_save() const");
  static_assert(hooks::has_cardinality<T> || hooks::has_cardinality_of_specs<T> || !hooks::names_cardinality<T>,
                "the optional function `cardinality` of a stage must be public and declared as: "
                "int64_t cardinality(std::span<const int64_t> inputs) const, optionally with a second parameter "
                "std::span<const Spec> specs");

 public:
  explicit StageBase(T stage) : stage_(std::move(stage)) {}

  static const StageType& static_type() {
    static const StageType type = describe_type<T>(Interface::kForm);
    return type;
  }

  const StageType& type() const override { return static_type(); }
  Result<Json> params(WriteContext& context) const override {
    if constexpr (hooks::has_can_save<T>)
      if (!context.compares) STOKER_TRY(stage_.can_save());
    Json json = Json::dict();
    T copy = stage_;
    Fields fields;
    copy.describe(fields);
    STOKER_TRY(write_fields(fields, json, context));
    return json;
  }
  Result<void> check() const override {
    if constexpr (hooks::has_check<T>) return stage_.check();
    return {};
  }
  Result<Spec> spec(std::span<const Spec> inputs) const override {
    if constexpr (hooks::has_spec<T>)
      return stage_.spec(inputs);
    else
      return inputs.empty() ? Spec::unknown() : inputs[0];
  }
  int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const override {
    if constexpr (hooks::has_cardinality_of_specs<T>)
      return stage_.cardinality(inputs, specs);
    else if constexpr (hooks::has_cardinality<T>)
      return stage_.cardinality(inputs);
    else if constexpr (IsSelection<T>)
      return selected(inputs[0]);
    else
      return Interface::kForm == Form::kMap ? inputs[0] : kUnknown;
  }
  std::vector<Graph> graphs() const override {
    if constexpr (hooks::has_graphs<T>) return stage_.graphs();
    return {};
  }
  std::vector<Graph> captured() const override {
    if constexpr (hooks::has_captured<T>) return stage_.captured();
    return {};
  }
  std::string summary() const override {
    if constexpr (hooks::has_summary<T>) return stage_.summary();
    return {};
  }
  bool calls_user() const override {
    if constexpr (hooks::has_calls_user<T>) return stage_.calls_user();
    return false;
  }
  PassUse pass_use() const override {
    if constexpr (hooks::has_pass_use<T>) return stage_.pass_use();
    if constexpr (hooks::has_order<T>)
      if (stage_.order()) return PassUse::kOrders;
    return IsMap<T> || IsFilter<T> ? PassUse::kDraws : PassUse::kNone;
  }

 protected:
  const T stage_;

 private:
  int64_t selected(int64_t n) const
    requires IsSelection<T>
  {
    if (n == kUnknown) return kUnknown;
    if (n >= 0) return stage_.length(n);
    const int64_t most = stage_.length(kEndless);
    return most == stage_.length(kEndless - (int64_t{1} << 32)) ? most : kInfinite;
  }
};

// What lists and streams share.
template <typename T, typename Interface>
class SourceBase : public StageBase<T, Interface> {
  STOKER_CHECK_HOOK(T, fingerprint, "Result<std::string> fingerprint() const");
  STOKER_CHECK_HOOK(T, describe_record, "RecordName describe_record(const Origin& origin) const");
  STOKER_CHECK_HOOK(T, load, "Result<Element> load(Element element, Context& context) const");
  STOKER_CHECK_HOOK(T, by_position, "bool by_position() const");
  STOKER_CHECK_HOOK(T, listed, "std::optional<T> listed() const, in a struct that also has the functions of a list");

 public:
  using StageBase<T, Interface>::StageBase;

  Result<std::string> fingerprint() const override {
    if constexpr (hooks::has_fingerprint<T>) return this->stage_.fingerprint();
    return std::string();
  }
  RecordName describe_record(const Origin& origin) const override {
    if constexpr (hooks::has_describe_record<T>) return this->stage_.describe_record(origin);
    return {};
  }
  Result<void> load(Run& run, Context& context) const override {
    if constexpr (hooks::has_load<T>)
      replace_rows(run, context, [&](Element&& e) { return this->stage_.load(std::move(e), context); });
    return {};
  }
};

// What streams and sequences share: a state.
template <typename T>
class StateCodec {
 public:
  using Own = hooks::StateOf<T>;

  static Own& own(State& state) { return *std::any_cast<Own>(&state); }
  static const Own& own(const State& state) { return *std::any_cast<Own>(&state); }

  static State start(const T& stage, const Pass& pass) {
    if constexpr (hooks::has_start<T>)
      return State(stage.start(pass));
    else
      return State(Own{});
  }
  static Result<Json> save(const State& state) {
    Json json = Json::dict();
    if constexpr (hooks::saves_state<T>) {
      Own copy = own(state);
      Fields fields;
      copy.describe(fields);
      WriteContext context;
      STOKER_TRY(write_fields(fields, json, context));
    }
    return json;
  }
  static Result<State> restore(const T& stage, const Json& json) {
    if constexpr (hooks::saves_state<T>) {
      Own state{};
      Fields fields;
      state.describe(fields);
      ReadContext context;
      STOKER_TRY(read_fields(fields, json, context, T::kName));
      if constexpr (hooks::has_check_state<T>) STOKER_TRY(stage.check_state(state));
      return State(std::move(state));
    } else {
      return start(stage, Pass{});
    }
  }
};

}  // namespace stoker
