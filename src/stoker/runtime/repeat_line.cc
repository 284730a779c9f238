#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// Returns the number that the first pass of a repeat has upstream, in pass `outer` of the repeats around it. Each outer
// pass has as many numbers as the repeat has passes. They must not be counted: how many passes start before a stage
// downstream ends the repeat depends on timing.
int64_t first_pass_in(int64_t outer, int64_t count) {
  return pass_number(outer, count < 0 ? kPassesOfEndlessRepeat : std::max<int64_t>(count, 1), 0);
}

// Restarts the input, or opens the segment upstream again, for each pass.
class RepeatLine final : public LineNode {
 public:
  RepeatLine(const RepeatLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), plan_(plan), count_(plan.passes), first_pass_(first_pass_in(pass, plan.passes)) {}
  ~RepeatLine() override {
    close_child(now_.child);
    close_child(next_pass_.child);
  }

 protected:
  // One pass: a line or an opened segment, and the number of rows it returned.
  struct OpenPass {
    int64_t pass = -1;
    std::shared_ptr<LineNode> line;
    std::shared_ptr<Instance> child;
    int64_t cursor = 0;
    bool has_yielded = false;  // any row, also before a restore
  };

  Pulled produce(int64_t most) override {
    const int64_t begun = now_ns();
    while (!ended_) {
      if (now_.pass < 0 && !begin(0)) break;
      log_if_due();
      Pulled pulled = now_.line ? now_.line->pull(most) : instance_.engine->take(*now_.child->root, most);
      if (pulled.kind == Pulled::Kind::kRun) {
        now_.cursor += pulled.run.size;
        now_.has_yielded = true;
        open_ahead();
        return pulled;
      }
      if (pulled.kind == Pulled::Kind::kBlocked) {
        open_ahead();
        return pulled;
      }
      // An infinite repeat of an empty input is empty. So is any repeat of no positions: each pass has the same number.
      if (!now_.has_yielded && (count_ < 0 || (now_.line && plan_.inputs[0]->yields_positions()))) break;
      const int64_t pass = now_.pass + 1;
      close_child(now_.child);
      now_ = {};
      if (!begin(pass)) break;
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
    }
    ended_ = true;
    return Pulled::end();
  }

 private:
  bool begin(int64_t pass) {
    if (count_ >= 0 && pass >= count_) return false;
    now_ = next_pass_.pass == pass ? std::exchange(next_pass_, {}) : opened(pass);
    return true;
  }
  OpenPass opened(int64_t pass) {
    OpenPass begun{pass, nullptr, nullptr, 0, false};
    if (!plan_.child)
      begun.line = plan_.inputs[0]->start(instance_, pass_below(pass));
    else
      begun.child = instance_.engine->open(*plan_.child, instance_.plan, instance_, pass_below(pass),
                                           instance_.make.level, instance_.path, rank_ + 1);
    return begun;
  }
  int64_t pass_below(int64_t pass) const { return pass_after(first_pass_, pass); }
  // Opens the next pass while the last rows of this one are pulled.
  void open_ahead() {
    if (!plan_.child || next_pass_.pass >= 0 || (count_ >= 0 && now_.pass + 1 >= count_)) return;
    if (!now_.has_yielded || !instance_.engine->line_ended(*now_.child->root)) return;
    next_pass_ = opened(now_.pass + 1);
  }
  void close_child(const std::shared_ptr<Instance>& child) {
    if (child) instance_.engine->close(*child);
  }

  Json unpulled() const override {
    Json json = Json::dict();
    json.set("first", first_pass_);
    return json;
  }
  Entry snapshot() const override { return {out(), now_, {}}; }
  Result<Json> entry_json(const Entry& entry, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock) override {
    const auto& begun = std::any_cast<const OpenPass&>(entry.state);
    Json json = Json::dict();
    json.set("pass", begun.pass);
    json.set("first", first_pass_);
    json.set("gave", begun.has_yielded);
    if (begun.pass < 0) return json;
    STOKER_TRY(Json below,
               begun.line ? begun.line->cut(begun.cursor, deferred) : begun.child->root->cut(begun.cursor, deferred));
    json.set("below", std::move(below));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const int64_t pass = saved_count(json, "pass", -1);
    first_pass_ = saved_count(json, "first");
    if (pass > kMostPasses || (count_ >= 0 && pass >= count_ && pass >= 0) || first_pass_ < 0 ||
        first_pass_ > kMostPasses)
      return Error::invalid("the checkpoint is damaged: pass ", pass, " after ", first_pass_);
    if (pass < 0) return {};
    now_ = opened(pass);
    now_.has_yielded = saved_part(json, "gave") == Json(true);
    const Json& below = saved_part(json, "below");
    return now_.line ? now_.line->restore(below) : now_.child->root->restore(below);
  }
  void prune_entry(const Entry& entry, Dropped& dropped) STOKER_REQUIRES(engine_lock) override {
    const auto& begun = std::any_cast<const OpenPass&>(entry.state);
    if (begun.line) begun.line->prune(begun.cursor, dropped);
    if (begun.child) begun.child->root->prune(begun.cursor, dropped);
  }

  const RepeatLinePlan& plan_;
  const int64_t count_;
  int64_t first_pass_ = 0;  // the number that its first pass has upstream
  OpenPass now_;
  OpenPass next_pass_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineNode> RepeatLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<RepeatLine>(*this, instance, pass);
}

Recomputed RepeatLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return child ? child->recompute(origin, context) : inputs[0]->recompute(origin, context);
}

bool RepeatLinePlan::reads(int32_t source) const {
  return child ? child->line->reads(source) : LinePlan::reads(source);
}

}  // namespace stoker
