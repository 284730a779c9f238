#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// What comes out of another segment's window.
class PortLine final : public LineNode {
 public:
  PortLine(const LinePlan& plan, Instance& instance)
      : LineNode(plan, instance), segment_(instance.add_segment(*plan.segment, rank_ + 1)) {}

  Result<Json> cut(int64_t cursor) const override { return segment_.cut(cursor); }
  Result<void> restore(const Json& json) override { return segment_.restore(json); }
  void prune(int64_t cursor, Dropped& dropped) override { segment_.prune(cursor, dropped); }
  void note_lost(int64_t rows) override {
    if (rows == 0) return;
    const MutexLock lock(instance_.engine->mutex());
    segment_.lost += rows;
    // Rows that follow count anew: in the slab of those already issued they
    // would land on one another.
    segment_.slab.reset();
    segment_.slab_number = -1;
  }

 protected:
  Pulled produce(int64_t most) override { return instance_.engine->take(segment_, most); }

 private:
  Segment& segment_;
};

}  // namespace

std::unique_ptr<LineNode> make_port_line(const LinePlan& plan, Instance& instance) {
  return std::make_unique<PortLine>(plan, instance);
}

}  // namespace stoker
