#pragma once

#include "stoker/graph/stage_base.h"

namespace stoker {

// Derives the interface of a stage from a plain struct: one class per form. make_stage() at the end chooses the class.

template <typename T>
class ListOf final : public SourceBase<T, ListStage> {
  STOKER_CHECK_HOOK(T, fetch, "Result<Run> fetch(std::span<const int64_t> positions, Context& context) const");
  STOKER_CHECK_HOOK(T, order, "std::optional<ShuffleParams> order() const");

 public:
  using SourceBase<T, ListStage>::SourceBase;

  Result<int64_t> length(Context& context) const override { return this->stage_.length(context); }
  Result<Run> fetch(std::span<const int64_t> positions, Context& context) const override {
    if constexpr (hooks::has_fetch<T>) {
      Result<Run> run = this->stage_.fetch(positions, context);
      if (run) run->freeze_if_shared();
      return run;
    } else {
      return fetch_each(positions, context);
    }
  }
  std::optional<ShuffleParams> order() const override {
    if constexpr (hooks::has_order<T>) return this->stage_.order();
    return std::nullopt;
  }

 private:
  Run fetch_each(std::span<const int64_t> positions, Context& context) const {
    RunBuilder run;
    for (int64_t position : positions) {
      Result<Element> element = this->stage_.at(position, context);
      if (!element) {
        run.add_failure(std::move(element).error(), Origin{}, false);
        continue;
      }
      element->freeze_if_shared();
      run.add(*std::move(element), Origin{});
    }
    return run.take();
  }
};

template <typename T>
class StreamOf final : public SourceBase<T, StreamStage> {
  STOKER_CHECK_HOOK(T, start, "State start(const Pass& pass) const");
  STOKER_CHECK_HOOK(T, check_state, "Result<void> check_state(const State& state) const");
  STOKER_CHECK_HOOK(T, next_rows, "Column next_rows(State& state, int64_t most, Context& context) const");
  STOKER_CHECK_HOOK(T, is_repeatable, "bool is_repeatable() const");
  using Codec = StateCodec<T>;

 public:
  using SourceBase<T, StreamStage>::SourceBase;

  State start(const Pass& pass) const override { return Codec::start(this->stage_, pass); }
  Result<std::optional<Element>> next(State& state, Context& context) const override {
    try {
      Result<std::optional<Element>> element = this->stage_.next(Codec::own(state), context);
      if (element && *element) (*element)->freeze_if_shared();
      return element;
    } catch (...) {
      return error_of_exception();
    }
  }
  Column next_rows(State& state, int64_t most, Context& context) const override {
    if constexpr (hooks::has_next_rows<T>) return this->stage_.next_rows(Codec::own(state), most, context);
    return {};
  }
  std::shared_ptr<const ListStage> listed() const override {
    if constexpr (hooks::has_listed<T>)
      if (std::optional<T> list = this->stage_.listed()) return std::make_shared<const ListOf<T>>(*std::move(list));
    return nullptr;
  }
  bool repeatable() const override {
    if constexpr (hooks::has_is_repeatable<T>) return this->stage_.is_repeatable();
    return true;
  }
  bool resumable() const override { return hooks::saves_state<T>; }
  Result<Json> save(const State& state) const override { return Codec::save(state); }
  Result<State> restore(const Json& json) const override { return Codec::restore(this->stage_, json); }
};

// What maps and filters share.
template <typename T, typename Interface>
class StepBase : public StageBase<T, Interface> {
  STOKER_CHECK_HOOK(T, hints, "Hints hints() const");
  STOKER_CHECK_HOOK(T, waits, "bool waits() const");

 public:
  using StageBase<T, Interface>::StageBase;

  Hints hints() const override {
    if constexpr (hooks::has_hints<T>) return this->stage_.hints();
    return {};
  }
  bool waits() const override {
    if constexpr (hooks::has_waits<T>) return this->stage_.waits();
    return this->type().waits;
  }
};

template <typename T>
class MapOf final : public StepBase<T, MapStage> {
  STOKER_CHECK_HOOK(T, split, "std::optional<std::pair<T, T>> split() const");
  STOKER_CHECK_HOOK(T, by_item, "bool by_item() const");

 public:
  using StepBase<T, MapStage>::StepBase;

  Result<void> apply(Run& run, Context& context) const override {
    if constexpr (hooks::has_apply_of_run<T>) {
      return this->stage_.apply(run, context);
    } else {
      replace_rows(run, context, [&](Element&& e) { return this->stage_.apply(std::move(e), context); });
      return {};
    }
  }
  std::optional<MapStage::Parts> split() const override {
    if constexpr (hooks::has_split<T>)
      if (std::optional<std::pair<T, T>> parts = this->stage_.split())
        return MapStage::Parts{std::make_shared<const MapOf>(std::move(parts->first)),
                               std::make_shared<const MapOf>(std::move(parts->second))};
    return std::nullopt;
  }
  bool by_item() const override {
    if constexpr (hooks::has_by_item<T>) return this->stage_.by_item();
    return false;
  }
};

template <typename T>
class FilterOf final : public StepBase<T, FilterStage> {
 public:
  using StepBase<T, FilterStage>::StepBase;

  Result<std::vector<uint8_t>> keep(Run& run, Context& context) const override {
    if constexpr (hooks::has_keep_of_run<T>)
      return this->stage_.keep(run, context);
    else
      return keep_each(run, context);
  }

 private:
  std::vector<uint8_t> keep_each(Run& run, Context& context) const {
    std::vector<uint8_t> kept(static_cast<size_t>(run.size), 1);
    traits::for_each_row(run, context, [&](int32_t row) -> Result<void> {
      const Element element = run.argument(row);
      STOKER_TRY(bool keep, this->stage_.keep(element, context));
      element.freeze_if_shared();
      kept[static_cast<size_t>(row)] = keep;
      return {};
    });
    return kept;
  }
};

template <typename T>
class SelectionOf final : public StageBase<T, SelectionStage> {
 public:
  using StageBase<T, SelectionStage>::StageBase;

  int64_t length(int64_t n) const override { return this->stage_.length(n); }
  int64_t at(int64_t i) const override { return this->stage_.at(i); }
};

template <typename T>
class SequenceOf final : public StageBase<T, SequenceStage> {
  STOKER_CHECK_HOOK(T, start, "State start(const Pass& pass) const");
  STOKER_CHECK_HOOK(T, check_state, "Result<void> check_state(const State& state) const");
  STOKER_CHECK_HOOK(T, finish, "Result<Flow> finish(State& state, Emit& out, Context& context) const");
  STOKER_CHECK_HOOK(T, input, "int input(const State& state) const");
  STOKER_CHECK_HOOK(T, max_rows, "int64_t max_rows(const State& state) const");
  STOKER_CHECK_HOOK(T, batch_rows, "int64_t batch_rows() const");
  STOKER_CHECK_HOOK(T, open_graph, "Result<Graph> open_graph(const Element& element) const");
  STOKER_CHECK_HOOK(T, at_rest, "bool at_rest(const State& state) const");
  static_assert(hooks::saves_state<T> || std::is_empty_v<hooks::StateOf<T>> || hooks::has_at_rest<T>,
                "the State of a sequence must have: void describe(Fields& f), so that a checkpoint contains it");
  using Codec = StateCodec<T>;

 public:
  using StageBase<T, SequenceStage>::StageBase;

  State start(const Pass& pass) const override { return Codec::start(this->stage_, pass); }
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const override {
    if constexpr (hooks::has_step_of_run<T>)
      return this->stage_.step(Codec::own(state), std::move(run), out, context);
    else
      return step_each(state, run, out, context);
  }
  Result<Flow> finish(State& state, Emit& out, Context& context) const override {
    if constexpr (hooks::has_finish<T>) return this->stage_.finish(Codec::own(state), out, context);
    return Flow::kDone;
  }
  int input(const State& state) const override {
    if constexpr (hooks::has_input<T>) return this->stage_.input(Codec::own(state));
    return 0;
  }
  int64_t max_rows(const State& state) const override {
    if constexpr (hooks::has_max_rows<T>) return this->stage_.max_rows(Codec::own(state));
    return kEndless;
  }
  int64_t batch_rows() const override {
    if constexpr (hooks::has_batch_rows<T>) return this->stage_.batch_rows();
    return 0;
  }
  Result<Graph> open_graph(const Element& element) const override {
    if constexpr (hooks::has_open_graph<T>) return this->stage_.open_graph(element);
    return Graph();
  }
  bool at_rest(const State& state) const override {
    if constexpr (hooks::has_at_rest<T>) return this->stage_.at_rest(Codec::own(state));
    return true;
  }
  Result<Json> save(const State& state) const override { return Codec::save(state); }
  Result<State> restore(const Json& json) const override { return Codec::restore(this->stage_, json); }

 private:
  // Failed rows pass the stage. An error of one row is emitted in its place, and the next row follows.
  Result<Flow> step_each(State& state, Run& run, Emit& out, Context& context) const {
    for (int32_t row = 0; row < run.size; ++row) {
      if (const Failure* failure = run.failure_of(row)) {
        out.put(Run::failure(failure->error, run.origins.at(row), true));
        continue;
      }
      context.set_row(row);
      const Result<Flow> flow = step_one(state, run.argument(row), out, context);
      if (!flow) out.put(Run::failure(flow.error(), run.origins.at(row)));
      if (flow && *flow == Flow::kDone) return Flow::kDone;
    }
    return Flow::kMore;
  }
  Result<Flow> step_one(State& state, Element element, Emit& out, Context& context) const {
    try {
      return this->stage_.step(Codec::own(state), std::move(element), out, context);
    } catch (...) {
      return error_of_exception();
    }
  }
};

template <typename T>
class EngineOf final : public StageBase<T, EngineStage> {
 public:
  using StageBase<T, EngineStage>::StageBase;

  EngineParams engine() const override { return this->stage_.engine(); }
};

template <typename T>
constexpr auto stage_class_of() {
  static_assert(!std::is_final_v<T>, "the struct of a stage must not be final");
  static_assert(forms_of<T> <= 1, "the struct has more than one form of a stage; see CONTRIBUTING.md");
  if constexpr (forms_of<T> == 1) reject_hooks_of_other_forms<T>();
  if constexpr (forms_of<T> == 0) {
    constexpr bool has_no_name = !hooks::names_apply<T> && !hooks::names_keep<T> && !hooks::names_next<T> &&
                                 !hooks::names_step<T> && !hooks::names_at<T>;
    static_assert(!hooks::names_apply<T>, "`apply` of a map must be: Result<Element> apply(Element, Context&) const");
    static_assert(!hooks::names_keep<T>,
                  "`keep` of a filter must be: Result<bool> keep(const Element&, Context&) const");
    static_assert(!hooks::names_next<T>,
                  "`next` of a stream must be: Result<std::optional<Element>> next(State&, Context&) const");
    static_assert(!hooks::names_step<T>,
                  "`step` of a sequence must be: Result<Flow> step(State&, Element, Emit&, Context&) const");
    static_assert(
        !hooks::names_at<T>,
        "`length` and `at` must be, for a list: Result<int64_t> length(Context&) const, Result<Element> "
        "at(int64_t, Context&) const; for a selection: int64_t length(int64_t) const, int64_t at(int64_t) const");
    static_assert(!has_no_name, "the struct has none of the forms of a stage; see CONTRIBUTING.md");
  } else if constexpr (IsList<T>) {
    return std::type_identity<ListOf<T>>();
  } else if constexpr (IsStream<T>) {
    return std::type_identity<StreamOf<T>>();
  } else if constexpr (IsMap<T>) {
    return std::type_identity<MapOf<T>>();
  } else if constexpr (IsFilter<T>) {
    return std::type_identity<FilterOf<T>>();
  } else if constexpr (IsSelection<T>) {
    return std::type_identity<SelectionOf<T>>();
  } else if constexpr (IsSequence<T>) {
    return std::type_identity<SequenceOf<T>>();
  } else {
    return std::type_identity<EngineOf<T>>();
  }
}

// The class for the form of a struct. For a list or stream, the list; make_stage() chooses by its parameters.
template <typename T>
using StageOf = typename decltype(stage_class_of<T>())::type;

template <typename T>
std::shared_ptr<const Stage> make_stage(T stage) {
  if constexpr (IsListOrStream<T>)
    if (!stage.by_position()) return std::make_shared<const StreamOf<T>>(std::move(stage));
  return std::make_shared<const StageOf<T>>(std::move(stage));
}

template <typename T>
Result<std::shared_ptr<const Stage>> read_stage(const Json& json, ReadContext& context) {
  T stage{};
  Fields fields;
  stage.describe(fields);
  STOKER_TRY(read_fields(fields, json, context, T::kName, {"stage", "name", "id", "drawn_seed"}));
  return make_stage(std::move(stage));
}

}  // namespace stoker
