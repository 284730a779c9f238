#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

class PortLine final : public LineNode {
 public:
  PortLine(const PortLinePlan& plan, Instance& instance)
      : LineNode(plan, instance), segment_(instance.add_segment(*plan.segment, rank_ + 1)) {}

  Result<Json> cut(int64_t cursor, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock) override {
    return segment_.cut(cursor, deferred);
  }
  Result<void> restore(const Json& json) override { return segment_.restore(json); }
  void prune(int64_t cursor, Dropped& dropped) STOKER_REQUIRES(engine_lock) override {
    segment_.prune(cursor, dropped);
  }
  void note_lost(int64_t rows) override {
    if (rows == 0) return;
    const EngineLock lock(instance_.engine->mutex());
    segment_.window.note_lost(rows);
  }

 protected:
  Pulled produce(int64_t most) override { return instance_.engine->take(segment_, most); }

 private:
  Segment& segment_;
};

}  // namespace

std::unique_ptr<LineNode> PortLinePlan::start(Instance& instance, int64_t) const {
  return std::make_unique<PortLine>(*this, instance);
}

Recomputed PortLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return segment->recompute(origin, context);
}

}  // namespace stoker
