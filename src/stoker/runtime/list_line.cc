#include <algorithm>
#include <numeric>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

class ListLine final : public LineNode {
 public:
  ListLine(const ListLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), list_(*plan.list), pass_(pass) {}

  Result<Json> cut(int64_t cursor, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    Json json = Json::dict();
    json.set("at", start_ + cursor);
    return json;
  }
  Result<void> restore(const Json& json) override {
    start_ = at_ = saved_count(json, "at");
    if (at_ < 0 || at_ > list_.length())
      return Error::invalid("the checkpoint is damaged: position ", at_, " of ", list_.length());
    return {};
  }
  void prune(int64_t, Dropped&) STOKER_REQUIRES(engine_lock) override {}

 protected:
  Pulled produce(int64_t most) override {
    const int64_t n = std::min(most, list_.length() - at_);
    if (n <= 0) return Pulled::end();
    Run run;
    run.size = static_cast<int32_t>(std::min<int64_t>(n, 1 << 20));
    run.positions.resize(static_cast<size_t>(run.size));
    std::iota(run.positions.begin(), run.positions.end(), at_);
    at_ += run.size;
    run.passes = {pass_};
    return Pulled::of(std::move(run));
  }

 private:
  const ListPlan& list_;
  const int64_t pass_;
  int64_t start_ = 0;
  int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<LineNode> ListLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<ListLine>(*this, instance, pass);
}

Recomputed ListLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return list->recompute(origin, context);
}

std::string ListLinePlan::describe() const {
  const int64_t n = list->length();
  return "positions, " + (n >= kEndless ? std::string("infinite") : std::to_string(n));
}

}  // namespace stoker
