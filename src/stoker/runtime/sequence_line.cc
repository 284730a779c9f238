#include <algorithm>
#include <climits>
#include <deque>
#include <map>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"
#include "stoker/runtime/origin_json.h"

namespace stoker {
namespace {

// A plain struct's `step`, its inputs and the children it opens.
class SequenceLine final : public LineNode, private Emit {
 public:
  SequenceLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), stage_(*plan.node->stage) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
    state_ = stage_.start(Pass{pass, instance.make.parent});
  }
  ~SequenceLine() override {
    for (auto& [at, slot] : slots_) close_slot(slot);
    for (Early& early : early_) close_slot(early.slot);
    close_slot(turn_);
  }

 protected:
  struct Slot {
    std::shared_ptr<Instance> child;
    int64_t cursor = 0;
    Element element;
    Origin origin;
  };
  // An element whose turn has not come, and its child.
  struct Early {
    Run row;
    Slot slot;
  };
  // The open ones alone, by their number: a stage may number them up to billions.
  using Slots = std::map<size_t, Slot>;
  struct Saved {
    State state;
    Slots slots;
    bool done;
  };

  Pulled produce(int64_t most) override {
    // First: what the rows below are blocked on must be there when they say so.
    if (stage_.type().opens && !done_) open_early();
    return next_rows(most);
  }

 private:
  Pulled next_rows(int64_t most) {
    const int64_t begun = now_ns();
    while (pending_.empty() && !done_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      if (stage_.at_rest(state_)) log_if_due(static_cast<int64_t>(slots_.size() * sizeof(Slot)));
      const int input = stage_.input(state_);
      Pulled pulled = input < static_cast<int>(inputs_.size())
                          ? pull_input(static_cast<size_t>(input), wanted(most))
                          : pull_slot(static_cast<size_t>(input) - inputs_.size(), wanted(most));
      if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
      advance(std::move(pulled), input);
    }
    return give_pending(most);
  }

  // Lines pull from one another by recursion, a thousand deep in a long graph:
  // what lies beside that path stays out of its frames.
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

  // Rows of the input for `most` of its own: what it asks for, or where it
  // makes one of so many rows, as many batches at once.
  int64_t wanted(int64_t most) const {
    const int64_t appetite = stage_.appetite(state_);
    if (stage_.rows() == 0) return std::min(appetite, most);
    return appetite == stage_.rows() ? std::min(most, kMostRows) * appetite : appetite;
  }
  Pulled pull_input(size_t input, int64_t most) { return early_.empty() ? inputs_[input]->pull(most) : take_early(); }
  [[gnu::noinline]] Pulled take_early() {
    turn_ = std::move(early_.front().slot);
    Run row = std::move(early_.front().row);
    early_.pop_front();
    return Pulled::of(std::move(row));
  }
  [[gnu::noinline]] Pulled pull_slot(size_t slot, int64_t most) {
    // Only a damaged checkpoint names a slot where nothing is open.
    const auto found = slots_.find(slot);
    if (found == slots_.end()) return Pulled::end();
    Pulled pulled = instance_.engine->take(*found->second.child->root, most);
    if (pulled.kind == Pulled::Kind::kRun) found->second.cursor += pulled.run.size;
    if (pulled.kind == Pulled::Kind::kEnd) {
      close_slot(found->second);
      slots_.erase(found);
    }
    return pulled;
  }

  void advance(Pulled pulled, int input) {
    const int64_t begun = now_ns();
    SeedScope seeds(mix_bits(plan_.seed));
    Context context(plan_.seed, 0, instance_.make.stopped);
    Result<Flow> flow = Flow::kMore;
    Origin last;
    if (pulled.kind == Pulled::Kind::kRun) {
      const Run& run = pulled.run;
      if (stage_.rows() > 0 && input == 0) inputs_[0]->note_lost(static_cast<int64_t>(run.failed.size()));
      const Origins origins = run.origins;
      last = origins.at(run.size - 1);
      context.set_origins(&origins);
      const int32_t rows = run.size;
      const int64_t bytes = run.byte_size();
      flow = guarded([&] { return stage_.step(state_, std::move(pulled.run), *this, context); });
      close_slot(turn_);
      plan_.meter->add(rows, now_ns() - begun, bytes);
    } else {
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

  void put(Run run) override {
    if (run.size == 0) return;
    for (Failure& failure : run.failed)
      if (failure.error.place().origin.empty())
        annotate(failure.error, *plan_.node, run.origins.at(failure.row), instance_.make.sources);
    if (!pending_.empty() && pending_.back().size < 1024 && run.size < 64 && pending_.back().nest == run.nest &&
        stage_.rows() == 0)
      pending_.back().append(std::move(run));
    else
      pending_.push_back(std::move(run));
  }

  Result<void> open(int slot, Element element, Origin origin) override {
    const auto at = static_cast<size_t>(slot);
    if (const auto before = slots_.find(at); before != slots_.end()) {
      close_slot(before->second);
      slots_.erase(before);
    }
    if (!turn_.child) {
      STOKER_TRY(turn_, opened(std::move(element), std::move(origin), true));
    }
    slots_[at] = std::exchange(turn_, {});
    return {};
  }

  // What runs functions of the user's begins when its turn comes: then, and not
  // before, is `now`.
  Result<Slot> opened(Element element, Origin origin, bool now) {
    STOKER_TRY(const Graph graph, stage_.open_graph(element));
    STOKER_TRY(std::shared_ptr<const Plan> plan,
               lower(graph.node(), instance_.engine->meters(), Positions::kAsAsked, plan_.path));
    if (plan->calls_user && !instance_.engine->options().calls_user_in_children)
      return Error::precondition("a function of the user's would be called");
    Slot slot{nullptr, 0, std::move(element), std::move(origin)};
    if (plan->calls_user && !now) return slot;
    const SegmentPlan& root = *plan->root;
    slot.child = instance_.engine->open(root, std::move(plan), instance_, 0,
                                        std::make_shared<const Origin>(slot.origin), plan_.path, rank_ + 1);
    return slot;
  }

  // Opens the next children, as many as are open and a few at least, so that
  // their first elements are there when their turn comes.
  [[gnu::noinline]] void open_early() {
    while (!slots_.empty() && early_.size() < std::clamp<size_t>(slots_.size(), 4, 64)) {
      Pulled pulled = inputs_[0]->pull(1);
      if (pulled.kind != Pulled::Kind::kRun) return;
      Early early{std::move(pulled.run), {}};
      if (early.row.failed.empty()) early.slot = opened_early(early.row);
      early_.push_back(std::move(early));
    }
  }
  // One that cannot be opened will say so when its turn comes.
  Slot opened_early(const Run& row) {
    SeedScope seeds(mix_bits(plan_.seed));
    try {
      Result<Slot> slot = opened(row.element(0), row.origins.at(0), false);
      return slot ? *std::move(slot) : Slot{};
    } catch (...) {
      return {};
    }
  }
  void close_slot(Slot& slot) {
    if (slot.child) instance_.engine->close(*slot.child);
    slot.child.reset();
  }

  Entry snapshot() const override {
    Numbers below = cursors();
    if (!below.empty()) below[0] -= static_cast<int64_t>(early_.size());
    return {out(), Saved{state_, slots_, done_}, std::move(below)};
  }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    STOKER_TRY(Json state, stage_.save(saved.state));
    json.set("state", std::move(state));
    json.set("done", saved.done);
    Json slots = Json::list();
    for (const auto& [at, slot] : saved.slots) {
      Json one = Json::dict();
      one.set("slot", static_cast<int64_t>(at));
      STOKER_TRY(Json row, row_to_json(Run::of(slot.element, slot.origin)));
      one.set("element", std::move(row));
      STOKER_TRY(Json below, slot.child->root->cut(slot.cursor));
      one.set("below", std::move(below));
      slots.push(std::move(one));
    }
    if (!slots.as<Json::List>()->empty()) json.set("slots", std::move(slots));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, stage_.restore(saved_part(json, "state")));
    done_ = saved_part(json, "done") == Json(true);
    const auto* slots = saved_part(json, "slots").as<Json::List>();
    if (!slots) return {};
    for (const Json& one : *slots) {
      const auto at = static_cast<size_t>(saved_count(one, "slot"));
      if (at > INT_MAX) return Error::invalid("the checkpoint is damaged: slot ", at);
      STOKER_TRY(Run row, row_from_json(saved_part(one, "element")));
      SeedScope seeds(mix_bits(plan_.seed));
      STOKER_TRY(open(static_cast<int>(at), row.element(0), row.origins.at(0)));
      STOKER_TRY(slots_[at].child->root->restore(saved_part(one, "below")));
    }
    return {};
  }
  void prune_entry(const Entry& entry, Dropped& dropped) override {
    for (const auto& [at, slot] : std::any_cast<const Saved&>(entry.state).slots)
      slot.child->root->prune(slot.cursor, dropped);
  }

  const Stage& stage_;
  State state_;
  Slots slots_;
  std::deque<Early> early_;
  Slot turn_;  // the child of the element whose turn it is, until a slot takes it
  std::deque<Run> pending_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<LineNode> make_sequence_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<SequenceLine>(plan, instance, pass);
}

}  // namespace stoker
