#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

constexpr int64_t kMostPasses = int64_t{1} << 40;

// Its input again and again: an inline one is made anew, another is a child.
class RepeatLine final : public LineNode {
 public:
  RepeatLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), count_(plan.node->stage->engine().count) {
    // Around it another repeat begins it anew: passes are counted on, those
    // that were begun and not those that could have been.
    const MutexLock lock(instance.engine->mutex());
    const auto begun = instance.begun.find(&plan);
    first_pass_ = pass > 0 && begun != instance.begun.end() ? begun->second : pass * std::max<int64_t>(count_, 1);
  }
  ~RepeatLine() override {
    close_child(now_.child);
    close_child(ahead_.child);
  }

 protected:
  // One pass: a line of its own or a child, and how much of it was given.
  struct Begun {
    int64_t pass = -1;
    std::shared_ptr<LineNode> line;
    std::shared_ptr<Instance> child;
    int64_t cursor = 0;
    bool gave = false;  // anything at all, also before a restore
  };

  Pulled produce(int64_t most) override {
    while (!ended_) {
      if (now_.pass < 0 && !begin(0)) break;
      log_if_due();
      Pulled pulled = now_.line ? now_.line->pull(most) : instance_.engine->take(*now_.child->root, most);
      if (pulled.kind == Pulled::Kind::kRun) {
        now_.cursor += pulled.run.size;
        now_.gave = true;
        open_ahead();
        return pulled;
      }
      if (pulled.kind == Pulled::Kind::kBlocked) {
        open_ahead();
        return pulled;
      }
      if (!now_.gave && count_ < 0) break;  // an endless repeat of nothing is nothing
      const int64_t pass = now_.pass + 1;
      keep_counts();
      close_child(now_.child);
      now_ = {};
      if (!begin(pass)) break;
      log_now_unless_skipping();
    }
    ended_ = true;
    return Pulled::end();
  }

 private:
  bool begin(int64_t pass) {
    if (count_ >= 0 && pass >= count_) return false;
    now_ = ahead_.pass == pass ? std::exchange(ahead_, {}) : opened(pass);
    note_begun();
    return true;
  }
  void note_begun() {
    const MutexLock lock(instance_.engine->mutex());
    instance_.begun[&plan_] = pass_below(now_.pass) + 1;
  }
  // Repeats inside a pass count on in the next.
  void keep_counts() {
    if (!now_.child) return;
    const MutexLock lock(instance_.engine->mutex());
    for (const auto& [plan, begun] : now_.child->begun) {
      int64_t& known = instance_.begun[plan];
      known = std::max(known, begun);  // the child copied those around it before this pass
    }
  }
  Begun opened(int64_t pass) {
    Begun begun{pass, nullptr, nullptr, 0, false};
    if (plan_.is_inline)
      begun.line = make_line(*plan_.inputs[0], instance_, pass_below(pass));
    else
      begun.child = instance_.engine->open(*plan_.child, instance_.plan, instance_, pass_below(pass),
                                           instance_.make.parent, instance_.path, rank_ + 1);
    return begun;
  }
  int64_t pass_below(int64_t pass) const { return first_pass_ + pass; }
  // The next pass starts to fill while the last one drains.
  void open_ahead() {
    if (plan_.is_inline || ahead_.pass >= 0 || (count_ >= 0 && now_.pass + 1 >= count_)) return;
    if (!now_.gave || !instance_.engine->line_ended(*now_.child->root)) return;
    keep_counts();
    ahead_ = opened(now_.pass + 1);
  }
  void close_child(const std::shared_ptr<Instance>& child) {
    if (child) instance_.engine->close(*child);
  }
  void log_now_unless_skipping() {
    if (!skipping()) log_now();
  }

  Json unpulled() const override {
    Json json = Json::dict();
    json.set("first", first_pass_);
    return json;
  }
  Entry snapshot() const override { return {out(), now_, {}}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& begun = std::any_cast<const Begun&>(entry.state);
    Json json = Json::dict();
    json.set("pass", begun.pass);
    json.set("first", first_pass_);
    json.set("gave", begun.gave);
    if (begun.pass < 0) return json;
    STOKER_TRY(Json below, begun.line ? begun.line->cut(begun.cursor) : begun.child->root->cut(begun.cursor));
    json.set("below", std::move(below));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const int64_t pass = saved_count(json, "pass", -1);
    first_pass_ = saved_count(json, "first");
    if (pass > kMostPasses || (count_ >= 0 && pass >= count_ && pass >= 0) || first_pass_ < 0 ||
        first_pass_ > kMostPasses)
      return Error::invalid("the checkpoint is damaged: pass ", pass, " behind ", first_pass_);
    if (pass < 0) return {};
    now_ = opened(pass);
    note_begun();
    now_.gave = saved_part(json, "gave") == Json(true);
    const Json& below = saved_part(json, "below");
    return now_.line ? now_.line->restore(below) : now_.child->root->restore(below);
  }
  void prune_entry(const Entry& entry, Dropped& dropped) override {
    const auto& begun = std::any_cast<const Begun&>(entry.state);
    if (begun.line) begun.line->prune(begun.cursor, dropped);
    if (begun.child) begun.child->root->prune(begun.cursor, dropped);
  }

  const int64_t count_;
  int64_t first_pass_ = 0;  // the number that its own first pass has below
  Begun now_;
  Begun ahead_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineNode> make_repeat_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<RepeatLine>(plan, instance, pass);
}

}  // namespace stoker
