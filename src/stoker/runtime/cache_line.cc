#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// What a cache over anything but a list keeps, and a child for the rest.
class CacheLine final : public LineNode {
 public:
  CacheLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        pass_(pass + instance.passes.base(*plan.node, plan.place)),
        store_(std::static_pointer_cast<CacheStore>(plan.node->state->cache)) {}
  ~CacheLine() override {
    if (child_) instance_.engine->close(*child_);
  }

  Result<Json> cut(int64_t cursor) const override {
    Json json = Json::dict();
    json.set("at", start_ + cursor);
    return json;
  }
  Result<void> restore(const Json& json) override {
    start_ = at_ = saved_count(json, "at");
    if (at_ < 0) return Error::invalid("the checkpoint is damaged: position ", at_);
    return {};
  }
  void prune(int64_t, Dropped&) override {}

 protected:
  Pulled produce(int64_t most) override {
    while (true) {
      if (!child_) {
        if (std::optional<Run> kept = store_->read(at_, most)) {
          at_ += kept->size;
          kept->origins = renamed(kept->origins, plan_.source, instance_.make.parent);
          return running(*std::move(kept));
        }
        if (store_->length() == at_) return Pulled::end();
        child_ = instance_.engine->open(*plan_.child, instance_.plan, instance_, 0, instance_.make.parent,
                                        instance_.path, rank_ + 1);
      }
      const int64_t behind = at_ - child_at_;
      Pulled pulled = instance_.engine->take(*child_->root, behind > 0 ? behind : most);
      if (pulled.kind == Pulled::Kind::kEnd) store_->finish(child_at_);
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      {
        Dropped dropped;
        const MutexLock lock(instance_.engine->mutex());
        child_->root->prune(child_at_ + pulled.run.size, dropped);
      }
      keep(pulled.run);
      child_at_ += pulled.run.size;
      if (behind > 0) continue;
      at_ = child_at_;
      return running(std::move(pulled.run));
    }
  }

 private:
  // Up to the first that failed: what is kept has no gaps.
  void keep(const Run& run) {
    Run whole = run.failed.empty() ? run : run.slice(0, run.failed.front().row);
    whole.origins = renamed(whole.origins, -plan_.source, instance_.make.parent);
    store_->append(child_at_, whole);
  }

  // Behind a cache origins carry the running pass.
  Pulled running(Run run) const {
    run.origins = in_running_pass(run.origins, pass_, plan_.stride, instance_.make.parent != nullptr);
    return Pulled::of(std::move(run));
  }

  const int64_t pass_;
  const std::shared_ptr<CacheStore> store_;
  std::shared_ptr<Instance> child_;
  int64_t start_ = 0;
  int64_t at_ = 0;
  int64_t child_at_ = 0;
};

}  // namespace

std::unique_ptr<LineNode> make_cache_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<CacheLine>(plan, instance, pass);
}

}  // namespace stoker
