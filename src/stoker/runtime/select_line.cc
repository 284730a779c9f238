#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// Counts the rows that pass, and keeps those that are selected.
class SelectLine final : public LineNode {
 public:
  SelectLine(const SelectLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), stage_(as_form<SelectionStage>(*plan.node->stage)), limit_(stage_.length(kEndless)) {
    inputs_.push_back(plan.inputs[0]->start(instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    const int64_t begun = now_ns();
    while (taken_ < limit_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      log_if_due();
      // No row after the last one that is selected.
      const int64_t last = limit_ < kEndless / 2 ? stage_.at(limit_ - 1) + 1 - seen_ : kEndless;
      Pulled pulled = inputs_[0]->pull(std::min(most, last));
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      std::vector<int32_t> kept;
      for (int32_t row = 0; row < pulled.run.size; ++row) {
        const Failure* failure = pulled.run.failed.empty() ? nullptr : pulled.run.failure_of(row);
        if (failure && failure->struck) {
          kept.push_back(row);
          continue;
        }
        if (taken_ < limit_ && seen_ == stage_.at(taken_)) {
          kept.push_back(row);
          ++taken_;
        }
        ++seen_;
      }
      if (kept.empty()) continue;
      if (static_cast<int32_t>(kept.size()) < pulled.run.size) pulled.run = pulled.run.select(kept);
      return pulled;
    }
    return Pulled::end();
  }

  using Counts = std::pair<int64_t, int64_t>;
  Entry snapshot() const override { return {out(), Counts{seen_, taken_}, cursors()}; }
  Result<Json> entry_json(const Entry& entry, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    const auto& [seen, taken] = std::any_cast<const Counts&>(entry.state);
    Json json = Json::dict();
    json.set("seen", seen);
    json.set("taken", taken);
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    seen_ = saved_count(json, "seen");
    taken_ = saved_count(json, "taken");
    if (seen_ < 0 || taken_ < 0 || taken_ > limit_ || seen_ > kEndless ||
        (taken_ < limit_ && seen_ > stage_.at(taken_)))
      return Error::invalid("the checkpoint is damaged: ", taken_, " of ", seen_, " taken");
    return {};
  }

 private:
  const SelectionStage& stage_;
  const int64_t limit_;
  int64_t seen_ = 0;
  int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<LineNode> SelectLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<SelectLine>(*this, instance, pass);
}

Recomputed SelectLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return inputs[0]->recompute(origin, context);
}

}  // namespace stoker
