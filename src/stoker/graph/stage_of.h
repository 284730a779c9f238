#pragma once

#include <concepts>
#include <utility>

#include "stoker/graph/function.h"
#include "stoker/graph/graph.h"
#include "stoker/graph/op_of.h"
#include "stoker/graph/stage.h"

namespace stoker {

// What a struct must write to be each of the forms (CONTRIBUTING.md).
template <typename T>
concept ListStage = requires(const T& t, Context& c) {
  { t.length(c) } -> std::same_as<Result<int64_t>>;
  { t.at(int64_t{}, c) } -> std::same_as<Result<Element>>;
};
template <typename T>
concept StreamStage = requires(const T& t, typename T::State& s, Context& c) {
  { t.next(s, c) } -> std::same_as<Result<std::optional<Element>>>;
};
// One that gives many small elements at once, too.
template <typename T>
concept RowStream = StreamStage<T> && requires(const T& t, typename T::State& s, Context& c) {
  { t.next_rows(s, int64_t{}, c) } -> std::same_as<Column>;
};
// A source that has both forms says which of the two its parameters ask for.
template <typename T>
concept EitherSource = ListStage<T> && StreamStage<T> && requires(const T& t) {
  { t.by_position() } -> std::same_as<bool>;
};
// A stream that can also be had by position, as another of the same struct.
template <typename T>
concept ListedOnDemand = EitherSource<T> && requires(const T& t) {
  { t.listed() } -> std::same_as<std::optional<T>>;
};
template <typename T>
concept MapStage = requires(const T& t, Element e, Context& c) {
  { t.apply(std::move(e), c) } -> std::same_as<Result<Element>>;
} || requires(const T& t, Run& r, Context& c) {
  { t.apply(r, c) } -> std::same_as<Result<void>>;
};
template <typename T>
concept FilterStage = requires(const T& t, const Element& e, Context& c) {
  { t.keep(e, c) } -> std::same_as<Result<bool>>;
} || requires(const T& t, Run& r, Context& c) {
  { t.keep(r, c) } -> std::same_as<Result<std::vector<uint8_t>>>;
};
template <typename T>
concept SelectionStage = requires(const T& t) {
  { t.length(int64_t{}) } -> std::same_as<int64_t>;
  { t.at(int64_t{}) } -> std::same_as<int64_t>;
};
template <typename T>
concept ElementSequence = requires(const T& t, typename T::State& s, Element e, Emit& out, Context& c) {
  { t.step(s, std::move(e), out, c) } -> std::same_as<Result<Flow>>;
};
template <typename T>
concept RunSequence = requires(const T& t, typename T::State& s, Run r, Emit& out, Context& c) {
  { t.step(s, std::move(r), out, c) } -> std::same_as<Result<Flow>>;
};
template <typename T>
concept EngineStage = requires(const T& t) {
  { t.engine() } -> std::same_as<EngineParams>;
};

template <typename T>
struct StateTypeOf {
  struct type {};
};
template <typename T>
  requires requires { typename T::State; }
struct StateTypeOf<T> {
  using type = typename T::State;
};

template <typename T>
constexpr int forms_of =
    int{ListStage<T>} + int{StreamStage<T>} + int{MapStage<T>} + int{FilterStage<T>} + int{SelectionStage<T>} +
    int{ElementSequence<T> || RunSequence<T>} + int{EngineStage<T>} - int{EitherSource<T>};

template <typename T>
concept StageStruct = forms_of<T> == 1;

// Derives the runtime's view of a stage from a plain struct.
template <typename T>
class StageOf final : public Stage {
  static_assert(forms_of<T> >= 1, "the struct has none of the forms of a stage: see CONTRIBUTING.md");
  static_assert(forms_of<T> <= 1, "the struct has more than one form of a stage");
  using Own = typename StateTypeOf<T>::type;

 public:
  explicit StageOf(T stage) : stage_(std::move(stage)) {}

  static const StageType& info() {
    static const StageType type = make_info();
    return type;
  }

  const StageType& type() const override {
    if constexpr (EitherSource<T>)
      if (!stage_.by_position()) return stream_info();
    return info();
  }
  Result<Json> params(WriteContext& context) const override {
    if constexpr (requires { stage_.can_save(); }) STOKER_TRY(stage_.can_save());
    Json json = Json::dict();
    T copy = stage_;
    Fields fields;
    copy.describe(fields);
    STOKER_TRY(write_fields(fields, json, context));
    return json;
  }
  Result<void> check() const override {
    if constexpr (requires { stage_.check(); }) return stage_.check();
    return {};
  }
  Result<Spec> spec(std::span<const Spec> inputs) const override {
    if constexpr (requires { stage_.spec(inputs); })
      return stage_.spec(inputs);
    else
      return inputs.empty() ? Spec::unknown() : inputs[0];
  }
  std::vector<Graph> graphs() const override {
    if constexpr (requires { stage_.graphs(); }) return stage_.graphs();
    return {};
  }
  Hints hints() const override {
    if constexpr (requires { stage_.hints(); }) return stage_.hints();
    return {};
  }
  std::string words() const override {
    if constexpr (requires { stage_.words(); }) return stage_.words();
    return {};
  }
  bool calls_user() const override {
    if constexpr (requires { stage_.calls_user(); }) return stage_.calls_user();
    return false;
  }
  PassUse pass_use() const override {
    if constexpr (requires { stage_.pass_use(); }) return stage_.pass_use();
    if (order()) return PassUse::kOrders;
    // What a stage opens may shuffle and draw, too.
    return MapStage<T> || FilterStage<T> || type().opens ? PassUse::kDraws : PassUse::kNone;
  }
  bool waits() const override {
    if constexpr (requires { stage_.waits(); }) return stage_.waits();
    return type().waits;
  }
  std::optional<Parts> cut() const override {
    if constexpr (requires { stage_.cut(); })
      if (std::optional<std::pair<T, T>> parts = stage_.cut())
        return Parts{std::make_shared<const StageOf>(std::move(parts->first)),
                     std::make_shared<const StageOf>(std::move(parts->second))};
    return std::nullopt;
  }
  bool by_item() const override {
    if constexpr (requires { stage_.by_item(); }) return stage_.by_item();
    return false;
  }
  int64_t rows() const override {
    if constexpr (requires { stage_.rows(); }) return stage_.rows();
    return 0;
  }
  int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const override {
    if constexpr (requires { stage_.cardinality(inputs, specs); }) return stage_.cardinality(inputs, specs);
    if constexpr (requires { stage_.cardinality(inputs); }) return stage_.cardinality(inputs);
    if constexpr (SelectionStage<T>) return selected_cardinality(inputs[0]);
    return Stage::cardinality(inputs, specs);
  }
  Result<std::string> fingerprint() const override {
    if constexpr (requires { stage_.fingerprint(); }) return stage_.fingerprint();
    return std::string();
  }
  std::string record_words(const Origin& origin) const override {
    if constexpr (requires { stage_.words(origin); }) return stage_.words(origin);
    return {};
  }

  Result<int64_t> length(Context& context) const override {
    if constexpr (ListStage<T>) return stage_.length(context);
    return Stage::length(context);
  }
  Result<Run> fetch(std::span<const int64_t> positions, Context& context) const override {
    if constexpr (requires { stage_.fetch(positions, context); }) {
      Result<Run> run = stage_.fetch(positions, context);
      if (run) run->freeze_if_shared();
      return run;
    } else if constexpr (ListStage<T>) {
      RunBuilder run;
      for (int64_t position : positions) {
        Result<Element> element = stage_.at(position, context);
        if (!element) {
          run.add_failure(std::move(element).error(), Origin{}, false);
          continue;
        }
        element->freeze_if_shared();
        run.add(*std::move(element), Origin{});
      }
      return run.take();
    }
    return Stage::fetch(positions, context);
  }
  Result<void> load(Run& run, Context& context) const override {
    if constexpr (requires(Element e) { stage_.load(std::move(e), context); })
      by_row(run, context, [&](Element&& e) { return stage_.load(std::move(e), context); });
    return {};
  }
  int64_t select_length(int64_t n) const override {
    if constexpr (SelectionStage<T>) return stage_.length(n);
    return Stage::select_length(n);
  }
  int64_t select(int64_t i) const override {
    if constexpr (SelectionStage<T>) return stage_.at(i);
    return Stage::select(i);
  }
  Result<void> apply(Run& run, Context& context) const override {
    if constexpr (requires {
                    { stage_.apply(run, context) } -> std::same_as<Result<void>>;
                  }) {
      return stage_.apply(run, context);
    } else if constexpr (MapStage<T>) {
      by_row(run, context, [&](Element&& e) { return stage_.apply(std::move(e), context); });
      return {};
    }
    return Stage::apply(run, context);
  }
  Result<std::vector<uint8_t>> keep(Run& run, Context& context) const override {
    if constexpr (requires {
                    { stage_.keep(run, context) } -> std::same_as<Result<std::vector<uint8_t>>>;
                  }) {
      return stage_.keep(run, context);
    } else if constexpr (FilterStage<T>) {
      std::vector<uint8_t> kept(static_cast<size_t>(run.size), 1);
      traits::for_each_row(run, context, [&](int32_t row) -> Result<void> {
        const Element element = run.argument(row);
        STOKER_TRY(bool keep, stage_.keep(element, context));
        element.freeze_if_shared();
        kept[static_cast<size_t>(row)] = keep;
        return {};
      });
      return kept;
    }
    return Stage::keep(run, context);
  }
  std::optional<EngineParams> order() const override {
    if constexpr (requires { stage_.order(); }) return stage_.order();
    return std::nullopt;
  }
  EngineParams engine() const override {
    if constexpr (EngineStage<T>) return stage_.engine();
    return {};
  }

  bool repeatable() const override {
    if constexpr (requires { stage_.is_repeatable(); }) return stage_.is_repeatable();
    return info().repeatable;
  }
  std::shared_ptr<const Stage> listed() const override {
    if constexpr (ListedOnDemand<T>)
      if (std::optional<T> list = stage_.listed()) return std::make_shared<const StageOf>(*std::move(list));
    return nullptr;
  }
  bool resumable() const override {
    return requires(Own s, Fields f) { s.describe(f); };
  }
  Result<Graph> open_graph(const Element& element) const override {
    if constexpr (requires { stage_.open_graph(element); }) return stage_.open_graph(element);
    return Graph();
  }
  State start(const Pass& pass) const override {
    if constexpr (requires { stage_.start(pass); })
      return State(stage_.start(pass));
    else
      return State(Own{});
  }
  Result<std::optional<Element>> next(State& state, Context& context) const override {
    if constexpr (StreamStage<T>) {
      try {
        Result<std::optional<Element>> element = stage_.next(mine(state), context);
        if (element && *element) (*element)->freeze_if_shared();
        return element;
      } catch (...) {
        return error_of_exception();
      }
    }
    return Stage::next(state, context);
  }
  Column next_rows(State& state, int64_t most, Context& context) const override {
    if constexpr (RowStream<T>) return stage_.next_rows(mine(state), most, context);
    return {};
  }
  int input(const State& state) const override {
    if constexpr (requires { stage_.input(mine(state)); }) return stage_.input(mine(state));
    return 0;
  }
  int64_t appetite(const State& state) const override {
    if constexpr (requires { stage_.appetite(mine(state)); }) return stage_.appetite(mine(state));
    return kEndless;
  }
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const override {
    if constexpr (RunSequence<T>) {
      return stage_.step(mine(state), std::move(run), out, context);
    } else if constexpr (ElementSequence<T>) {
      for (int32_t row = 0; row < run.size; ++row) {
        if (const Failure* failure = run.failure_of(row)) {
          out.put(Run::failure(failure->error, run.origins.at(row), true));
          continue;
        }
        context.set_row(row);
        const Result<Flow> flow = one_step(state, run.argument(row), out, context);
        if (!flow) out.put(Run::failure(flow.error(), run.origins.at(row)));
        if (flow && *flow == Flow::kDone) return Flow::kDone;
      }
      return Flow::kMore;
    }
    return Stage::step(state, std::move(run), out, context);
  }
  Result<Flow> finish(State& state, Emit& out, Context& context) const override {
    if constexpr (requires { stage_.finish(mine(state), out, context); })
      return stage_.finish(mine(state), out, context);
    return Flow::kDone;
  }
  bool at_rest(const State& state) const override {
    if constexpr (requires { stage_.at_rest(mine(state)); }) return stage_.at_rest(mine(state));
    return true;
  }
  Result<Json> save(const State& state) const override {
    Json json = Json::dict();
    if constexpr (requires(Own s, Fields f) { s.describe(f); }) {
      Own copy = mine(state);
      Fields fields;
      copy.describe(fields);
      WriteContext context;
      STOKER_TRY(write_fields(fields, json, context));
    }
    return json;
  }
  Result<State> restore(const Json& json) const override {
    if constexpr (requires(Own s, Fields f) { s.describe(f); }) {
      Own state{};
      Fields fields;
      state.describe(fields);
      ReadContext context;
      STOKER_TRY(read_fields(fields, json, context, T::kName));
      if constexpr (requires { stage_.check_state(state); }) STOKER_TRY(stage_.check_state(state));
      return State(std::move(state));
    }
    return start(Pass{});
  }

 private:
  static StageType make_info() {
    StageType type;
    type.name = T::kName;
    type.doc = T::kDoc;
    type.form = ListStage<T>        ? Form::kList
                : StreamStage<T>    ? Form::kStream
                : MapStage<T>       ? Form::kMap
                : FilterStage<T>    ? Form::kFilter
                : SelectionStage<T> ? Form::kSelection
                : EngineStage<T>    ? Form::kEngine
                                    : Form::kSequence;
    if constexpr (requires { T::kSeesFailures; }) type.sees_failures = T::kSeesFailures;
    if constexpr (requires { T::kWaits; }) type.waits = T::kWaits;
    if constexpr (requires { T::kRepeatable; }) type.repeatable = T::kRepeatable;
    if constexpr (requires { T::kGoesOn; }) type.goes_on = T::kGoesOn;
    type.in_rows = RowStream<T>;
    type.opens = requires(const T& t, const Element& e) { t.open_graph(e); };
    type.loads = requires(const T& t, Element e, Context& c) { t.load(std::move(e), c); };
    T defaults{};
    Fields fields;
    defaults.describe(fields);
    type.params = documented(fields);
    type.read = &read;
    return type;
  }
  static const StageType& stream_info() {
    static const StageType type = [] {
      StageType stream = info();
      stream.form = Form::kStream;
      stream.loads &= !ListedOnDemand<T>;
      return stream;
    }();
    return type;
  }
  static Result<std::shared_ptr<const Stage>> read(const Json& json, ReadContext& context) {
    T stage{};
    Fields fields;
    stage.describe(fields);
    STOKER_TRY(read_fields(fields, json, context, T::kName, {"stage", "name", "id", "drawn_seed"}));
    return std::make_shared<const StageOf>(std::move(stage));
  }
  static decltype(auto) mine(State& state) { return *std::any_cast<Own>(&state); }
  static decltype(auto) mine(const State& state) { return *std::any_cast<Own>(&state); }

  // An error or exception is this element's, and the next one follows.
  Result<Flow> one_step(State& state, Element element, Emit& out, Context& context) const {
    try {
      return stage_.step(mine(state), std::move(element), out, context);
    } catch (...) {
      return error_of_exception();
    }
  }
  template <typename Body>
  static void by_row(Run& run, Context& context, Body&& body) {
    Rebuilt made(run.size, context.like());
    traits::for_each_row(run, context, [&](int32_t row) -> Result<void> {
      Result<Element> element = body(run.argument(row));
      if (!element) return std::move(element).error();
      return made.set(row, std::move(element.value()));
    });
    made.put_into(run);
  }
  int64_t selected_cardinality(int64_t n) const {
    if (n == kUnknown) return kUnknown;
    if (n >= 0) return select_length(n);
    const int64_t most = select_length(kEndless);
    return most == select_length(kEndless - (int64_t{1} << 32)) ? most : kInfinite;
  }

  T stage_;
};

}  // namespace stoker
