#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"
#include "stoker/runtime/lists.h"

namespace stoker {
namespace {

// Reads a cache over rows: first the elements that the store keeps, then the segment upstream.
class CacheLine final : public LineNode {
 public:
  CacheLine(const CacheLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        plan_(plan),
        pass_(pass_after(instance.passes.base(*plan.node, plan.place), pass)),
        filled_at_(instance.make.level_of(*plan.node)),
        store_(plan.store) {}
  ~CacheLine() override {
    if (child_) instance_.engine->close(*child_);
  }

  Result<Json> cut(int64_t cursor, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    Json json = Json::dict();
    json.set("at", start_ + cursor - extras_in(0, cursor));
    if (has_ended(cursor)) json.set("ended", true);
    return json;
  }
  Result<void> restore(const Json& json) override {
    set_may_end(json);
    start_ = at_ = saved_count(json, "at");
    if (at_ < 0) return Error::invalid("the checkpoint is damaged: position ", at_);
    return {};
  }
  void prune(int64_t, Dropped&) STOKER_REQUIRES(engine_lock) override {}

 protected:
  Pulled produce(int64_t most) override {
    const int64_t begun = now_ns();
    while (true) {
      if (!child_) {
        if (std::optional<Run> kept = store_->read(at_, most)) {
          at_ += kept->size;
          kept->origins = renamed(kept->origins, plan_.source_shift, filling_parent(), instance_.make.parent);
          return running(*std::move(kept));
        }
        if (store_->length() == at_) return Pulled::end();
        child_ =
            instance_.engine->open(*plan_.child, instance_.plan, instance_, 0, filled_at_, instance_.path, rank_ + 1);
      }
      const int64_t behind = at_ - child_at_;
      Pulled pulled = instance_.engine->take(*child_->root, behind > 0 ? behind : most);
      if (pulled.kind == Pulled::Kind::kEnd) return at_end(behind);
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      {
        Dropped dropped;
        const EngineLock lock(instance_.engine->mutex());
        child_->root->prune(child_rows_ += pulled.run.size, dropped);
      }
      const int64_t extras = extra_errors(pulled.run).size;
      lost_rows_ |= extras > 0;
      if (!lost_rows_) keep(pulled.run);
      child_at_ += pulled.run.size - extras;
      if (behind > 0) {
        if (Run errors = unexpected_errors(pulled.run); errors.size > 0)
          return running(renamed_rows(std::move(errors)));
        if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
        continue;
      }
      at_ = child_at_;
      return running(renamed_rows(std::move(pulled.run)));
    }
  }

 private:
  // `behind`: the number of elements up to the position that was restored.
  Pulled at_end(int64_t behind) {
    if (!lost_rows_) store_->finish(child_at_);
    if (behind == 0) return Pulled::end();
    std::optional<Run> error = ended_early();
    at_ = child_at_;
    return error ? running(*std::move(error)) : Pulled::end();
  }

  // Keeps rows up to the first that failed: a cache has no gaps.
  void keep(const Run& run) {
    store_->append(child_at_, run.failed.empty() ? run : run.slice(0, run.failed.front().row));
  }

  std::shared_ptr<const Origin> filling_parent() const { return filled_at_ ? filled_at_->parent : nullptr; }
  // Replaces the numbers of sources and the parents that rows have upstream.
  Run renamed_rows(Run run) const {
    if (filled_at_ == instance_.make.level && plan_.source_shift == 0) return run;
    run.origins = renamed(run.origins, plan_.source_shift, filling_parent(), instance_.make.parent);
    rename_origins(run, instance_.make.sources);
    return run;
  }

  // Downstream of a cache, origins have the current pass.
  Pulled running(Run run) const {
    run.origins = in_running_pass(run.origins, pass_, plan_.stride, instance_.make.parent != nullptr);
    return Pulled::of(std::move(run));
  }

  const CacheLinePlan& plan_;
  const int64_t pass_;
  const std::shared_ptr<const Level> filled_at_;
  const std::shared_ptr<CacheStore> store_;
  std::shared_ptr<Instance> child_;
  int64_t start_ = 0;
  int64_t at_ = 0;          // elements
  int64_t child_at_ = 0;    // elements that the child has returned
  int64_t child_rows_ = 0;  // and its rows, with extra errors
  bool lost_rows_ = false;  // an extra error stands for rows that are missing
};

}  // namespace

std::unique_ptr<LineNode> CacheLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<CacheLine>(*this, instance, pass);
}

Recomputed CacheLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return recompute_cached(
      origin, source_shift, stride, [&](const Origin& upstream) { return child->recompute(upstream, context); },
      context);
}

}  // namespace stoker
