#include <algorithm>
#include <climits>
#include <deque>
#include <unordered_map>

#include "stoker/graph/element_json.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"
#include "stoker/runtime/origin_json.h"

namespace stoker {
namespace {

// The maximum size of the rows that are taken from a child at once. Larger rows are taken when they are used.
constexpr int64_t kMostBytesAhead = 16 << 10;

// Runs a SequenceStage, with its inputs and the datasets that it opens (children).
class SequenceLine final : public LineNode, private Emit {
 public:
  SequenceLine(const SequenceLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), plan_(plan), stage_(as_form<SequenceStage>(*plan.node->stage)) {
    for (const auto& input : plan.inputs) inputs_.push_back(input->start(instance, pass));
    state_ = stage_.start(Pass{pass, instance.make.parent});
    const int64_t base = plan.counted ? instance.passes.base(*plan.counted->node, plan.counted->place) : 0;
    end_.append(Origin{.source = plan.source,
                       .pass = pass_number(pass_after(base, pass), plan.counted ? plan.counted->unit : 1, 0),
                       .position = kEndPosition,
                       .parent = instance.make.parent});
  }
  ~SequenceLine() override {
    for (auto& [at, open] : slots_) close_slot(open.slot);
    for (Prefetched& early : prefetched_) close_slot(early.slot);
    close_slot(next_child_);
  }

 protected:
  // An element and the dataset that it opens.
  struct Opening {
    Element element;
    Origin origin;
    Graph graph;
    std::shared_ptr<const Plan> plan;
    uint64_t first_node;  // see Level
  };
  struct Slot {
    std::shared_ptr<const Opening> opening;
    std::shared_ptr<Instance> child;  // null before its turn, if user functions run in it
    int64_t cursor = 0;
    std::optional<Error> error = std::nullopt;  // of opening it early; returned when it is its turn
  };
  // An element that was read ahead, and its child.
  struct Prefetched {
    Run row;
    Slot slot;
  };
  // An open slot, and rows that were taken from its child and not used yet. Taking several small rows at once saves the
  // engine's lock for each of them.
  struct OpenSlot {
    Slot slot;
    Run rows;
    int32_t next_row = 0;
  };
  // Only the open slots, by number: a stage may use numbers up to billions.
  using OpenSlots = std::unordered_map<size_t, OpenSlot>;
  using Slots = std::vector<std::pair<size_t, Slot>>;  // in the order of their numbers
  struct Saved {
    std::shared_ptr<const State> state;
    Slots slots;
    bool done;
    const Nest* nest;  // of the elements of children, after the first one
  };

  Pulled produce(int64_t most) override {
    // Before the rows are pulled: a segment must exist before a pull can be blocked on it.
    if (stage_.type().opens_datasets && !done_) prefetch_children();
    return next_rows(most);
  }

 private:
  Pulled next_rows(int64_t most) {
    const int64_t begun = now_ns();
    while (pending_.empty() && !done_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      if (stage_.at_rest(state_)) log_if_due(static_cast<int64_t>(slots_.size() * sizeof(Slots::value_type)));
      const int input = stage_.input(state_);
      Pulled pulled = input < static_cast<int>(inputs_.size())
                          ? pull_input(static_cast<size_t>(input), rows_to_pull(most))
                          : pull_slot(static_cast<size_t>(input) - inputs_.size(), rows_to_pull(most));
      if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
      advance(std::move(pulled), input);
    }
    return give_pending(most);
  }

  // Lines pull from each other by recursion, a thousand levels deep in a long graph. Functions that are not on this
  // path are not inlined, to keep its stack frames small.
  [[gnu::noinline]] Pulled give_pending(int64_t most) {
    if (pending_.empty()) return Pulled::end();
    Run run = std::move(pending_.front());
    pending_.pop_front();
    if (run.size > most) {
      pending_.push_front(run.slice(static_cast<int32_t>(most), run.size - static_cast<int32_t>(most)));
      run = run.slice(0, static_cast<int32_t>(most));
    }
    return Pulled::of(std::move(run));
  }

  // The number of rows to pull for `most` rows of output: what the stage accepts or, if it batches, several batches at
  // once.
  int64_t rows_to_pull(int64_t most) const {
    const int64_t max_rows = stage_.max_rows(state_);
    if (stage_.batch_rows() == 0) return std::min(max_rows, most);
    if (max_rows != stage_.batch_rows()) return max_rows;
    int64_t rows = 0;
    return __builtin_mul_overflow(std::min(most, kPullRows), max_rows, &rows) ? kEndless : rows;
  }
  Pulled pull_input(size_t input, int64_t most) {
    return prefetched_.empty() ? inputs_[input]->pull(most) : take_prefetched();
  }
  [[gnu::noinline]] Pulled take_prefetched() {
    next_child_ = std::move(prefetched_.front().slot);
    Run row = std::move(prefetched_.front().row);
    prefetched_.pop_front();
    return Pulled::of(std::move(row));
  }
  [[gnu::noinline]] Pulled pull_slot(size_t slot, int64_t most) {
    // Only a damaged checkpoint refers to an empty slot.
    const auto found = slots_.find(slot);
    if (found == slots_.end()) return Pulled::end();
    OpenSlot& open = found->second;
    if (open.next_row == open.rows.size) {
      Pulled pulled = instance_.engine->take(*open.slot.child->root, std::max(most, rows_ahead_));
      if (pulled.kind == Pulled::Kind::kEnd) {
        close_slot(open.slot);
        slots_.erase(found);
      }
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      open.rows = std::move(pulled.run);
      open.next_row = 0;
      rows_ahead_ = std::min(kPullRows, kMostBytesAhead * open.rows.size / std::max<int64_t>(1, open.rows.byte_size()));
    }
    return Pulled::of(rows_of(open, most));
  }
  // Returns the next rows of an open slot that has some.
  static Run rows_of(OpenSlot& open, int64_t most) {
    const auto n = static_cast<int32_t>(std::min<int64_t>(most, open.rows.size - open.next_row));
    open.slot.cursor += n;
    if (n == open.rows.size) return std::exchange(open.rows, Run());
    Run run = open.rows.slice(open.next_row, n);
    open.next_row += n;
    if (open.next_row == open.rows.size) {
      open.rows = Run();
      open.next_row = 0;
    }
    return run;
  }

  void advance(Pulled pulled, int input) {
    const int64_t begun = now_ns();
    SeedScope seeds(mix_bits(plan_.seed));
    Context context(plan_.seed, 0, instance_.make.stopped);
    Result<Flow> flow = Flow::kMore;
    Origin last = end_.at(0);
    if (pulled.kind == Pulled::Kind::kRun) {
      const Run& run = pulled.run;
      if (stage_.batch_rows() > 0 && input == 0) inputs_[0]->note_lost(static_cast<int64_t>(run.failed.size()));
      const Origins origins = run.origins;
      last = origins.at(run.size - 1);
      context.set_origins(&origins);
      const int32_t rows = run.size;
      const int64_t bytes = run.byte_size();
      flow = guarded([&] { return stage_.step(state_, std::move(pulled.run), *this, context); });
      close_slot(next_child_);
      plan_.meter->add(rows, now_ns() - begun, bytes);
    } else {
      context.set_origins(&end_);
      flow = guarded([&] { return stage_.finish(state_, *this, context); });
    }
    if (!flow) {
      Error error = flow.error();
      annotate(error, *plan_.node, last, instance_.make.sources);
      pending_.push_back(Run::failure(std::move(error), last));
      if (pulled.kind == Pulled::Kind::kEnd) done_ = true;
      return;
    }
    if (*flow == Flow::kDone) done_ = true;
  }

  template <typename Body>
  static Result<Flow> guarded(Body&& body) {
    try {
      return body();
    } catch (...) {
      return error_of_exception();
    }
  }

  // All children must have elements of one structure, that of the first: functions downstream depend on it.
  void reject_other_structure(Run& run) {
    const bool has_elements = run.nest && std::ssize(run.failed) < run.size;
    if (!stage_.type().opens_datasets || !has_elements || run.nest == nest_) return;
    if (!nest_) nest_ = run.nest;
    if (has_same_leaves(*run.nest, *nest_)) {
      run.nest = nest_;  // keys in another order
      return;
    }
    RunBuilder rejected;
    for (int32_t row = 0; row < run.size; ++row) {
      const Failure* const failure = run.failure_of(row);
      if (failure) {
        rejected.add_failure(failure->error, run.origins.at(row), failure->struck);
        continue;
      }
      rejected.add_failure(Error::invalid("expected elements of the structure ", nest_->describe(),
                                          ", as in the first dataset that was opened, got ", run.nest->describe()),
                           run.origins.at(row), false);
    }
    run = rejected.take();
  }

  static bool has_same_leaves(const Nest& a, const Nest& b) {
    if (a.leaf_count() != b.leaf_count()) return false;
    for (size_t leaf = 0; leaf < a.leaf_count(); ++leaf)
      if (a.path_of(leaf) != b.path_of(leaf)) return false;
    return true;
  }

  void put(Run run) override {
    if (run.size == 0) return;
    reject_other_structure(run);
    for (Failure& failure : run.failed)
      if (failure.error.place().origin.empty())
        annotate(failure.error, *plan_.node, run.origins.at(failure.row), instance_.make.sources);
    if (!pending_.empty() && pending_.back().size < 1024 && run.size < 64 && pending_.back().nest == run.nest &&
        stage_.batch_rows() == 0)
      pending_.back().append(std::move(run));
    else
      pending_.push_back(std::move(run));
  }

  Result<void> open(int slot, Element element, Origin origin) override {
    const auto at = static_cast<size_t>(slot);
    if (const auto before = slots_.find(at); before != slots_.end()) {
      close_slot(before->second.slot);
      slots_.erase(before);
    }
    if (next_child_.error) return *std::exchange(next_child_, {}).error;
    if (!next_child_.opening) {
      STOKER_TRY(next_child_, opened(std::move(element), std::move(origin)));
    }
    if (!next_child_.child) begin(next_child_);
    slots_[at].slot = std::exchange(next_child_, {});
    return {};
  }

  Result<Slot> opened(Element element, Origin origin) const {
    const uint64_t first_node = next_node_number();
    STOKER_TRY(Graph graph, stage_.open_graph(element));
    STOKER_TRY(check_depth(graph));
    for (const Array& leaf : element.leaves) STOKER_TRY(leaf.check_intact());
    STOKER_TRY(std::shared_ptr<const Plan> plan, lower(graph.node(), instance_.engine->meters(), Positions::kIfRequired,
                                                       plan_.path, &instance_.plan->seeds));
    if (plan->calls_user && !instance_.engine->options().calls_user_in_children)
      return Error::precondition("a user function would be called");
    auto opening =
        std::make_shared<Opening>(std::move(element), std::move(origin), std::move(graph), std::move(plan), first_node);
    return Slot{std::move(opening), nullptr, 0};
  }
  // Rejects datasets that open each other without end.
  Result<void> check_depth(const Graph& graph) const {
    constexpr int kMaxLevels = 100;
    const std::vector<const Node*> nodes = nodes_of(*graph.node());
    if (std::ranges::find(nodes, plan_.node.get()) != nodes.end())
      return Error::invalid(
          "the function returned a dataset that contains this stage, so it would open itself without end");
    int levels = 1;
    for (const Origin* parent = instance_.make.parent.get(); parent; parent = parent->parent.get()) ++levels;
    if (levels > kMaxLevels)
      return Error::invalid("the function opens a dataset inside ", kMaxLevels,
                            " other datasets; does it return a dataset that calls it again?");
    return {};
  }
  void begin(Slot& slot) {
    const Opening& from = *slot.opening;
    auto level = std::make_shared<const Level>(std::make_shared<const Origin>(from.origin), from.first_node,
                                               instance_.make.level);
    slot.child =
        instance_.engine->open(*from.plan->root, from.plan, instance_, 0, std::move(level), plan_.path, rank_ + 1);
  }

  // Opens as many of the next children as are open, and at least a few, so that their first elements are available when
  // it is their turn.
  [[gnu::noinline]] void prefetch_children() {
    const int64_t begun = now_ns();
    while (!slots_.empty() && now_ns() - begun < kLongestPullNs &&
           prefetched_.size() < std::clamp<size_t>(slots_.size(), 4, 64)) {
      Pulled pulled = inputs_[0]->pull(1);
      if (pulled.kind != Pulled::Kind::kRun) return;
      Prefetched early{std::move(pulled.run), {}};
      if (early.row.failed.empty()) {
        Result<Slot> slot = opened_ahead(early.row);
        if (slot) {
          early.slot = *std::move(slot);
        } else if (slot.error().ends_program()) {
          pending_.push_back(Run::failure(std::move(slot).error(), early.row.origins.at(0)));
          return;
        } else if (slot.error().code() != Code::kResourceExhausted) {  // there may be memory when it is its turn
          early.slot.error = std::move(slot).error();
        }
      }
      prefetched_.push_back(std::move(early));
    }
  }
  Result<Slot> opened_ahead(const Run& row) {
    SeedScope seeds(mix_bits(plan_.seed));
    try {
      STOKER_TRY(Slot slot, opened(row.element(0), row.origins.at(0)));
      // A child that calls user functions starts when it is its turn.
      if (!slot.opening->plan->calls_user) begin(slot);
      return slot;
    } catch (...) {
      return error_of_exception();
    }
  }
  void close_slot(Slot& slot) {
    if (slot.child) instance_.engine->close(*slot.child);
    slot = {};
  }

  Entry snapshot() const override {
    Numbers below = cursors();
    if (!below.empty()) below[0] -= static_cast<int64_t>(prefetched_.size());
    return {out(), Saved{std::make_shared<const State>(state_), open_slots(), done_, nest_}, std::move(below)};
  }
  Slots open_slots() const {
    Slots all;
    for (const auto& [at, open] : slots_) all.emplace_back(at, open.slot);
    std::ranges::sort(all, {}, [](const auto& one) { return one.first; });
    return all;
  }
  Result<Json> entry_json(const Entry& entry, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock) override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    json.set("state",
             deferred.add([node = plan_.node, &stage = stage_, state = saved.state] { return stage.save(*state); }));
    json.set("done", saved.done);
    if (saved.nest) json.set("nest", nest_to_json(*saved.nest));
    Json slots = Json::list();
    for (const auto& [at, slot] : saved.slots) {
      Json one = Json::dict();
      one.set("slot", static_cast<int64_t>(at));
      one.set("element", deferred.add([opening = slot.opening] {
        return row_to_json(Run::of(opening->element, opening->origin));
      }));
      STOKER_TRY(Json below, slot.child->root->cut(slot.cursor, deferred));
      one.set("below", std::move(below));
      slots.push(std::move(one));
    }
    if (!slots.as<Json::List>()->empty()) json.set("slots", std::move(slots));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, stage_.restore(saved_part(json, "state")));
    done_ = saved_part(json, "done") == Json(true);
    if (const Json* nest = json.find("nest")) {
      STOKER_TRY(nest_, nest_from_json(*nest));
    }
    const auto* slots = saved_part(json, "slots").as<Json::List>();
    if (!slots) return {};
    for (const Json& one : *slots) {
      const int64_t number = saved_count(one, "slot");
      if (number < 0 || number > INT_MAX) return Error::invalid("the checkpoint is damaged: slot ", number);
      const auto at = static_cast<size_t>(number);
      STOKER_TRY(Run row, row_from_json(saved_part(one, "element")));
      SeedScope seeds(mix_bits(plan_.seed));
      STOKER_TRY(open(static_cast<int>(at), row.element(0), row.origins.at(0)));
      STOKER_TRY(slots_[at].slot.child->root->restore(saved_part(one, "below")));
    }
    return {};
  }
  void prune_entry(const Entry& entry, Dropped& dropped) STOKER_REQUIRES(engine_lock) override {
    for (const auto& [at, slot] : std::any_cast<const Saved&>(entry.state).slots)
      slot.child->root->prune(slot.cursor, dropped);
  }

  const SequenceLinePlan& plan_;
  const SequenceStage& stage_;
  State state_;
  Origins end_;  // of what the stage emits at the end of an input, which belongs to no element
  OpenSlots slots_;
  int64_t rows_ahead_ = 1;  // to take from a child at once
  std::deque<Prefetched> prefetched_;
  Slot next_child_;  // the child of the current element, until it is assigned to a slot
  std::deque<Run> pending_;
  bool done_ = false;
  const Nest* nest_ = nullptr;
};

}  // namespace

std::unique_ptr<LineNode> SequenceLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<SequenceLine>(*this, instance, pass);
}

namespace {

// Computes the element that opened a dataset, from the origin of an element in it or in a dataset that was opened in
// it. Only the origin of the right level has as many parents as stages upstream open datasets; for the others, the
// source returns impossible().
Recomputed recompute_opener(const LinePlan& input, const Origin& origin, const MakeContext& context) {
  for (const Origin* opener = origin.parent.get(); opener; opener = opener->parent.get()) {
    Recomputed made = input.recompute(*opener, context);
    if (made.complete || made.run.size > 0) return made;
  }
  return Recomputed::impossible();
}

}  // namespace

Recomputed SequenceLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  const bool opens = node->stage->type().opens_datasets;
  if (opens != (origin.parent != nullptr)) return Recomputed::impossible();
  Recomputed made = opens ? recompute_opener(*inputs[0], origin, context) : inputs[0]->recompute(origin, context);
  const bool batches = as_form<SequenceStage>(*node->stage).batch_rows() > 0;
  made.is_batched |= made.complete && batches;
  made = only_if_lost(std::move(made));
  if (opens && !made.complete) made.run = Run();
  return made;
}

}  // namespace stoker
