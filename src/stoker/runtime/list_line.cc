#include <algorithm>
#include <numeric>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// Names of a list, in order.
class ListLine final : public LineNode {
 public:
  ListLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance), pass_(pass) {}

  Result<Json> cut(int64_t cursor) const override {
    Json json = Json::dict();
    json.set("at", start_ + cursor);
    return json;
  }
  Result<void> restore(const Json& json) override {
    start_ = at_ = saved_count(json, "at");
    if (at_ < 0 || at_ > plan_.list->length())
      return Error::invalid("the checkpoint is damaged: position ", at_, " of ", plan_.list->length());
    return {};
  }
  void prune(int64_t, Dropped&) override {}

 protected:
  Pulled produce(int64_t most) override {
    const int64_t n = std::min(most, plan_.list->length() - at_);
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
  const int64_t pass_;
  int64_t start_ = 0;
  int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<LineNode> make_list_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<ListLine>(plan, instance, pass);
}

}  // namespace stoker
